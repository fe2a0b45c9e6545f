import { describe, expect, test } from "vitest";
import { type FakePrimitive, FakeView, okProvider } from "../../../tests/kit/fake-catalog.ts";
import { mcpRig } from "../../../tests/kit/mcp-rig.ts";

const tools = (count: number): FakePrimitive[] =>
  Array.from({ length: count }, (_, n) => ({ kind: "tool", name: `t${n}`, definition: `{"name":"t${n}","n":1.50}` }));
const list = (cursor?: unknown, method = "tools/list") =>
  JSON.stringify({ jsonrpc: "2.0", id: "L", method, ...(cursor === undefined ? {} : { params: { cursor } }) });

describe("a list", () => {
  test("is the entries as their servers wrote them, in one answer", async () => {
    await using rig = await mcpRig({ view: new FakeView(1, [okProvider("one")], tools(2), '"x":1,"_meta":{"a":2}') });
    const answer = await rig.send({ body: list(), headers: await rig.initialize() });
    expect(answer.text).toBe(
      '{"jsonrpc":"2.0","id":"L","result":{"tools":[{"name":"t0","n":1.50},{"name":"t1","n":1.50}],"x":1,"_meta":{"a":2}}}',
    );
  });

  test.each([
    ["resources/list", "resources"],
    ["resources/templates/list", "resourceTemplates"],
    ["prompts/list", "prompts"],
  ])("of %s may be empty", async (method, member) => {
    await using rig = await mcpRig();
    expect((await rig.send({ body: list(undefined, method) })).json()).toMatchObject({ result: { [member]: [] } });
  });

  test("of any size arrives whole, twice", async () => {
    await using rig = await mcpRig({ view: new FakeView(1, [okProvider("one")], tools(5000)) });
    const headers = await rig.initialize();
    for (let round = 0; round < 2; round++) {
      const answer = await rig.send({ body: list(), headers });
      const { result } = answer.json() as never as { result: { tools: unknown[] } };
      expect(result.tools.length).toBe(5000);
      expect(Number(answer.headers["content-length"])).toBe(answer.text.length);
    }
  });

  test("says which servers are missing from it, beside the server's own _meta", async () => {
    const down = { id: "dówn", status: "unreachable", since: "2026-01-01T00:00:00Z", message: "refused" } as const;
    const view = new FakeView(1, [okProvider("one"), down], tools(1), '"_meta":{"a":2}');
    await using rig = await mcpRig({ view });
    const answer = await rig.send({ body: list() });
    const { result } = JSON.parse(Buffer.from(answer.text, "latin1").toString());
    expect(result._meta).toEqual({
      a: 2,
      "dev.isthmus/servers": { dówn: { status: "unreachable", since: "2026-01-01T00:00:00Z", message: "refused" } },
    });
  });

  test("says what is not as it was when it was first seen, whole and in pages, beside the server's own _meta", async () => {
    const pins = '"t0":{"status":"changed","since":"2026-01-01T00:00:00Z","what":["description"]}';
    for (const pageSize of [undefined, 1]) {
      const view = new FakeView(1, [okProvider("one")], tools(2), '"_meta":{"a":2}');
      Object.assign(view.list("tool"), { pins });
      await using rig = await mcpRig({ view, ...(pageSize && { config: { pageSize } }) });
      const { result } = (await rig.send({ body: list() })).json() as never as { result: { _meta: unknown } };
      expect(result._meta).toEqual({ a: 2, "dev.isthmus/pins": JSON.parse(`{${pins}}`) });
      expect(rig.catalog.looked).toEqual([" tool"]);
    }
  });

  test("comes in pages that a client can walk", async () => {
    await using rig = await mcpRig({ config: { pageSize: 2 }, view: new FakeView(1, [okProvider("one")], tools(5)) });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const { result } = (await rig.send({ body: list(cursor) })).json() as never as {
        result: { tools: { name: string }[]; nextCursor?: string };
      };
      names.push(...result.tools.map((tool) => tool.name));
      cursor = result.nextCursor;
    } while (cursor !== undefined);
    expect(names).toEqual(["t0", "t1", "t2", "t3", "t4"]);
  });

  test("refuses a cursor it did not give, or gave for something else", async () => {
    await using rig = await mcpRig({ config: { pageSize: 2 }, view: new FakeView(1, [okProvider("one")], tools(5)) });
    const { result } = (await rig.send({ body: list() })).json() as never as { result: { nextCursor: string } };
    const code = async (body: string) =>
      ((await rig.send({ body })).json() as never as { error: { code: number } }).error.code;
    expect(await code(list("nonsense"))).toBe(-32602);
    expect(await code(list(7))).toBe(-32602);
    expect(await code(list(result.nextCursor, "prompts/list"))).toBe(-32602);
    rig.catalog.current = new FakeView(1, [okProvider("one")], tools(6));
    expect(await code(list(result.nextCursor))).toBe(-32602);
  });
});
