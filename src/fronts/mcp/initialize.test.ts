import { describe, expect, test } from "vitest";
import { FakeView, okProvider } from "../../../tests/kit/fake-catalog.ts";
import { mcpRig } from "../../../tests/kit/mcp-rig.ts";

const opening = (version: unknown, capabilities: unknown = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: version, capabilities } });

describe("initialize", () => {
  test.each([
    ["2024-11-05", "2024-11-05"],
    ["2025-03-26", "2025-03-26"],
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["2099-01-01", "2025-11-25"],
  ])("asked for %s answers %s", async (asked, given) => {
    await using rig = await mcpRig();
    const answer = await rig.send({ body: opening(asked) });
    expect(answer.json()).toMatchObject({
      id: 0,
      result: { protocolVersion: given, serverInfo: { name: "isthmus", version: "0.0.0" } },
    });
    expect(answer.headers["mcp-session-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("without a version is not valid", async () => {
    await using rig = await mcpRig();
    expect((await rig.send({ body: opening(1) })).json()).toMatchObject({ error: { code: -32602 } });
    expect((await rig.send({ body: opening("2025-11-25", 3) })).json()).toMatchObject({ error: { code: -32602 } });
    expect(rig.sessions.size).toBe(0);
  });

  test("with the id of another session opens a new one", async () => {
    await using rig = await mcpRig();
    const answer = await rig.send({ headers: { "mcp-session-id": "gone" }, body: opening("2025-11-25") });
    expect(answer.status).toBe(200);
    expect(rig.sessions.size).toBe(1);
  });

  test("waits until what the session sees is ready", async () => {
    await using rig = await mcpRig();
    const gate = Promise.withResolvers<void>();
    rig.catalog.gate = gate.promise;
    const answering = rig.send({ body: opening("2025-11-25") });
    rig.catalog.current = new FakeView(2, [okProvider("late", '{"prompts":{}}')], []);
    gate.resolve();
    expect((await answering).json()).toMatchObject({ result: { capabilities: { prompts: { listChanged: true } } } });
  });

  test("relays one server's capabilities as they are, but that lists may change", async () => {
    const declared = '{"x-own":{"a":1.0},"tools":{"listChanged":false},"logging":{}}';
    await using rig = await mcpRig({ view: new FakeView(1, [okProvider("one", declared, "Be kind.")], []) });
    const answer = await rig.send({ body: opening("2025-11-25") });
    expect(answer.text).toContain('"capabilities":{"x-own":{"a":1.0},"tools":{"listChanged":true},"logging":{}}');
    expect(answer.json()).toMatchObject({ result: { instructions: "Be kind." } });
  });

  test("joins the capabilities and instructions of several servers", async () => {
    const one = okProvider("one", '{"tools":{},"resources":{"subscribe":false},"experimental":{"a":{}}}', "First.");
    const two = okProvider(
      "two",
      '{"resources":{"subscribe":true},"tasks":{"list":{}},"experimental":{"b":{}}}',
      "Zwölf.",
    );
    await using rig = await mcpRig({ view: new FakeView(1, [one, two], []) });
    const { result } = JSON.parse(
      Buffer.from((await rig.send({ body: opening("2025-11-25") })).text, "latin1").toString(),
    );
    expect(result.capabilities).toEqual({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      experimental: { a: {}, b: {} },
      tasks: { list: {} },
    });
    expect(result.instructions).toBe("# one\n\nFirst.\n\n# two\n\nZwölf.");
  });

  test("leaves room for a server that is not up yet", async () => {
    const down = { id: "down", status: "starting", since: "2026-01-01T00:00:00Z" } as const;
    await using rig = await mcpRig({ view: new FakeView(1, [down], []) });
    const { result } = (await rig.send({ body: opening("2025-11-25") })).json() as never as {
      result: { capabilities: object };
    };
    expect(Object.keys(result.capabilities)).toEqual(["tools", "resources", "prompts"]);
  });

  test("does not let a declared __proto__ reach our own objects", async () => {
    const bad = okProvider("one", '{"__proto__":{"polluted":true},"tools":{}}');
    await using rig = await mcpRig({ view: new FakeView(1, [bad, okProvider("two")], []) });
    await rig.send({ body: opening("2025-11-25") });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
