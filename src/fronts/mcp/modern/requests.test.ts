import { describe, expect, test } from "vitest";
import { FakeView, okProvider } from "../../../../tests/kit/fake-catalog.ts";
import { call, endWith, mcpRig } from "../../../../tests/kit/mcp-rig.ts";
import { META, modern, modernCall } from "../../../../tests/kit/modern-client.ts";
import { payload } from "../../../contract/index.ts";

const LIST = "tools/list";

describe("server/discover", () => {
  test("tells what the gateway serves, and nothing it does not", async () => {
    const capabilities = `{"tools":{},"tasks":{"list":{}},"logging":{},"extensions":{"a.b/c":{}}}`;
    await using rig = await mcpRig({ view: new FakeView(1, [okProvider("one", capabilities, "be kind")], []) });
    const answer = await rig.send(modern("server/discover", {}, { id: "probe" }));
    expect(answer.json()).toEqual({
      jsonrpc: "2.0",
      id: "probe",
      result: {
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: { listChanged: true }, logging: {}, extensions: { "a.b/c": {} } },
        instructions: "be kind",
        resultType: "complete",
        ttlMs: 0,
        cacheScope: "private",
        _meta: { [`${META}serverInfo`]: { name: "isthmus", version: "0.0.0" } },
      },
    });
    expect(rig.sessions.size).toBe(0);
  });
});

describe("a list", () => {
  test("has what this era adds, and no word of the tasks of 2025", async () => {
    const tool = '{"name":"t","execution":{"taskSupport":"required"},"n":1.50}';
    const view = new FakeView(
      1,
      [okProvider("one")],
      [{ kind: "tool", name: "t", definition: tool }],
      '"x":1,"ttlMs":9,"_meta":{"a":2}',
    );
    await using rig = await mcpRig({ view });
    const answer = await rig.send(modern(LIST));
    expect(answer.text).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","n":1.50}],"x":1,"ttlMs":0,' +
        '"_meta":{"a":2,"io.modelcontextprotocol/serverInfo":{"name":"isthmus","version":"0.0.0"}},' +
        '"resultType":"complete","cacheScope":"private"}}',
    );
    expect((await rig.send({ body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' })).text).toContain("taskSupport");
  });

  test("comes in pages where it does for others", async () => {
    const tools = ["a", "b", "c"].map((name) => ({ kind: "tool", name }) as const);
    await using rig = await mcpRig({ config: { pageSize: 2 }, view: new FakeView(1, [okProvider("one")], tools) });
    const first = (await rig.send(modern(LIST))).json<{ result: { tools: unknown[]; nextCursor: string } }>().result;
    expect(first.tools).toHaveLength(2);
    const second = (await rig.send(modern(LIST, { cursor: first.nextCursor }))).json().result;
    expect(second).toMatchObject({ tools: [{ name: "c" }], ttlMs: 0 });
    expect(second).not.toHaveProperty("nextCursor");
  });
});

describe("a profile", () => {
  test("has one session for equal declarations, and another for others", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write(endWith({}));
    const sessionOf = async (capabilities: object, path = "/mcp") => {
      await rig.send(modernCall({}, { capabilities, path }));
      return rig.runs.last.call.session;
    };
    const plain = await sessionOf({ elicitation: {}, roots: { listChanged: true } });
    expect(await sessionOf({ roots: {}, elicitation: { form: {} }, tasks: {} })).toBe(plain);
    expect(plain?.capabilities.text).toBe('{"elicitation":{"form":{}},"roots":{"listChanged":true}}');
    expect(plain).toMatchObject({ canBeAsked: true, isEphemeral: false });
    expect(await sessionOf({ elicitation: { url: {} } })).not.toBe(plain);
    expect(await sessionOf({ elicitation: {}, roots: {} }, "/ops/mcp")).not.toBe(plain);
    expect(await sessionOf({})).toMatchObject({ canBeAsked: false });
    expect(rig.sessions.size).toBe(4);
  });

  test("is let go when nobody uses it, and made again", async () => {
    await using rig = await mcpRig({ idleMs: 1000 });
    await rig.send(modern(LIST));
    expect(rig.sessions.size).toBe(1);
    rig.time.advance(120_000);
    expect([rig.sessions.size, rig.catalog.left.length]).toEqual([0, 1]);
    expect((await rig.send(modern(LIST))).status).toBe(200);
  });

  test("answers questions outside any call by itself", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write(endWith({}));
    await rig.send(modernCall({}, { capabilities: { elicitation: {}, roots: {}, sampling: {} } }));
    const session = rig.runs.last.call.session;
    const ask = async (kind: "elicit" | "roots" | "sample") => {
      const question = { key: "k", kind, method: kind, input: payload("{}") };
      const { outcome, payload: body } = await rig.sessions.ask(
        session as never,
        question,
        new AbortController().signal,
      );
      return [outcome, body.value()];
    };
    expect(await ask("elicit")).toEqual(["result", { action: "cancel" }]);
    expect(await ask("roots")).toEqual(["result", { roots: [] }]);
    expect(await ask("sample")).toMatchObject(["fault", { code: -1 }]);
  });
});

describe("both eras on one path", () => {
  test("get their own shapes, in any order", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    const headers = await rig.initialize();
    for (let round = 0; round < 20; round++) {
      const old = await rig.send({ body: call(round), headers });
      expect(old.text).toBe(`{"jsonrpc":"2.0","id":${round},"result":{"content":[]}}`);
      const fresh = await rig.send(modernCall({}, { id: round }));
      expect(fresh.json()).toMatchObject({ id: round, result: { resultType: "complete" } });
    }
  });
});
