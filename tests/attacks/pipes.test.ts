/** A caller of a shared server on a pipe who wants the pipe for itself. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openSession, post, toolCall } from "../e2e/kit/rpc.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";

const PIPE = fileURLToPath(new URL("./kit/pipe-server.mjs", import.meta.url));
const server = (id: string) =>
  `[[servers]]\nid = "${id}"\nera = "2025"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(PIPE)}]\n`;
const config = `[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n${server("pipe")}`;
const tokens = { ann: ["--user", "ann"], mallory: ["--user", "mallory"] };

/** As much as a message may have. */
const LARGE = "z".repeat(4 * 1024 * 1024 - 300);

async function call(field: Attacked, name: string, args: object = {}, as = "ann"): Promise<string> {
  const { messages } = await field.rpc(toolCall(1, `pipe.${name}`, args), { as, at: 0 });
  return JSON.stringify(messages.at(-1) ?? "");
}

describeAttacks("a caller that cancels at great length", { config, tokens }, (field) => {
  const padded: [string, object][] = [
    ["in an unknown member", { x: LARGE }],
    ["in its reason", { reason: LARGE }],
    ["in what should be a reason", { reason: [LARGE] }],
    ["in _meta", { _meta: { x: LARGE } }],
    ["in many members", Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`x${at}`, "z".repeat(4_000)]))],
  ];

  test.each(padded)("%s does not end the calls of others", async (_, params) => {
    const before = await call(field, "who");
    const annsCall = call(field, "sleep", { ms: 4_000 });
    const headers = {
      ...field.as("mallory"),
      ...(await openSession(`${field.origin(0)}/mcp`, {}, field.as("mallory"))),
    };
    const mcp = `${field.origin(0)}/mcp`;
    const own = [100, 101, 102].map((id) => post(mcp, toolCall(id, "pipe.sleep", { ms: 4_000 }), headers));
    await new Promise((resolve) => setTimeout(resolve, 500));
    void call(field, "work", { ms: 1_500 }, "mallory");
    await Promise.all(
      [100, 101, 102].map((requestId) =>
        post(mcp, { method: "notifications/cancelled", params: { requestId, ...params } }, headers),
      ),
    );
    expect(await annsCall).toContain("slept");
    expect(await call(field, "who")).toBe(before);
    await Promise.allSettled(own);
  });
});

describeAttacks("a caller with more large calls than may wait for the pipe", { config, tokens }, (field) => {
  // All at once while the server is busy, or some again and again.
  const floods: [string, string, number, number][] = [
    ["at once", "who", 12, 1],
    ["while the server is busy", "work", 10, 1],
    ["again and again", "who", 6, 3],
  ];

  test.each(floods)("%s keeps nobody else from the server", async (_, name, count, turns) => {
    const before = await call(field, "who");
    const large: Promise<string>[] = [];
    const answers: string[] = [];
    for (let turn = 0; turn < turns; turn++) {
      for (let at = 0; at < count; at++) large.push(call(field, name, { ms: 100, x: LARGE }, "mallory"));
      for (let at = 0; at < 10; at++) {
        answers.push(await call(field, "who"));
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    expect(new Set(answers)).toEqual(new Set([before]));
    const ends = (await Promise.all(large)).map((text) => /"code":"(\w+)"/.exec(text)?.[1] ?? "ok");
    expect(["ok", "OVERLOADED"]).toEqual(expect.arrayContaining([...new Set(ends)]));
  });
});
