import { describe, expect, test } from "vitest";
import { bytesHeldAfter } from "../../../tests/kit/held-memory.ts";
import { call, endWith, mcpRig, type SendOptions } from "../../../tests/kit/mcp-rig.ts";
import { modernCall } from "../../../tests/kit/modern-client.ts";
import { taskRig } from "../../../tests/kit/task-rig.ts";

const MIB = 1024 * 1024;
const ESCAPED = "\\u0070rogressToken";

/** The same request with the key of its token in another spelling. */
const respelled = (sent: SendOptions): SendOptions => ({
  ...sent,
  body: String(sent.body).replace("progressToken", ESCAPED),
});
const withNumber = (sent: SendOptions, digits: number): SendOptions => ({
  ...sent,
  body: String(sent.body).replace('"@"', "1".repeat(digits)),
});
const older = (progressToken: unknown): SendOptions => ({ body: call(1, {}, { _meta: { progressToken } }) });
const newer = (progressToken: unknown): SendOptions => modernCall({}, { meta: { progressToken } });

describe.each([
  ["2025-11-25", older],
  ["2026-07-28", newer],
] as const)("a progress token (%s)", (_era, request) => {
  test.each([
    ["a string", (token: string) => request(token)],
    ["a number", (token: string) => withNumber(request("@"), token.length)],
    ["an object", (token: string) => request({ token })],
    ["written with escapes", (token: string) => respelled(request(token))],
  ])("that is too long is refused as %s", async (_name, write) => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    const answer = await rig.send(write("x".repeat(300)));
    expect(answer.json()).toMatchObject({ error: { code: -32602, message: expect.stringContaining("256") } });
    expect(rig.runs.started).toEqual([]);
  });

  test("of 36 characters, as clients make them, is taken", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    expect((await rig.send(request(crypto.randomUUID()))).json()).toMatchObject({ result: { content: [] } });
  });
});

describe("a task that the gateway keeps", () => {
  test("keeps nothing of its call when it is over but what it has found out", async () => {
    await using rig = await taskRig("told");
    const headers = await rig.initialize("2025-11-25", {});
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    async function make(size: number): Promise<void> {
      const _meta = { progressToken: "a-token-of-36-characters-0123456789" };
      const body = call(1, { x: "x".repeat(size) }, { task: { ttl: 60_000 }, _meta });
      const { result } = (await rig.send({ headers, body })).json<{ result?: { task?: object } }>();
      expect(result?.task).toBeTypeOf("object");
      rig.runs.started.length = 0;
    }
    await make(1);
    const held = await bytesHeldAfter(async () => {
      for (let count = 0; count < 400; count++) await make(60_000);
    });
    expect(held).toBeLessThan(8 * MIB);
  });
});
