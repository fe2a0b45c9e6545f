import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Program } from "../e2e/kit/program.ts";
import { StdioClient } from "../e2e/kit/rpc.ts";
import { textOf } from "./kit/call.ts";
import { mutate, mutations } from "./kit/mutation.ts";
import { scriptedServer } from "./kit/stdio-table.ts";
import { wrongMessage } from "./kit/wrong-messages.ts";

const BATCH = 100;
const TIMES = Number(process.env.FUZZ_TIMES ?? 1);
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"canary.echo","arguments":{"text":"x"}}}';

describe("the front on a pipe, fuzzed", () => {
  test(
    "answers a proper call after each hundred of 2,000 wrong lines, and ends with its input",
    async () => {
      await using program = new Program(["stdio", "--log-level", "warn"], { config: scriptedServer("canary") });
      // Every line it writes must be JSON: the client would throw.
      const client = new StdioClient(program);
      await client.open();
      let turn = 0;
      // The client reads by readline, for which U+2028 ends a line; JSON thinks otherwise.
      const broken = mutations.map((list) => mutate(CALL, list).replaceAll("\xe2\x80\xa8", ""));
      const wrong = wrongMessage.map((text) => Buffer.from(text).toString("latin1"));
      const batch = fc.array(fc.oneof(broken, wrong), { minLength: BATCH, maxLength: BATCH });
      const property = fc.asyncProperty(batch, async (lines) => {
        program.child.stdin.write(`${lines.join("\n")}\n`, "latin1");
        // A wrong line may have opened the session anew, which is allowed and ends what ran in it.
        await client.open();
        const text = `turn ${++turn}`;
        const params = { name: "canary.echo", arguments: { text } };
        expect(textOf(await client.ask({ id: text, method: "tools/call", params }))).toBe(text);
      });
      await fc.assert(property, { numRuns: 20 * TIMES, endOnFailure: true });
      expect(program.stderr).not.toContain('"level":"error"');
      program.child.stdin.end();
      expect(await program.exited).toBe(0);
    },
    30_000 * TIMES,
  );
});
