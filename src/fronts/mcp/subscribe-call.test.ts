import { expect, test } from "vitest";
import { type FakePrimitive, FakeView, okProvider } from "../../../tests/kit/fake-catalog.ts";
import { endWith, mcpRig } from "../../../tests/kit/mcp-rig.ts";

const RESOURCES: FakePrimitive[] = [
  { kind: "resource", name: "doc://a", provider: "files" },
  { kind: "resource", name: "files+doc://b", own: "doc://b", provider: "files" },
  { kind: "resource", name: "doc://c", provider: "other" },
];

test("a replaced server hears again of what clients subscribed to, in its own names, and no other server does", async () => {
  const providers = ["files", "other"].map((id) => okProvider(id, '{"resources":{"subscribe":true}}'));
  await using rig = await mcpRig({ view: new FakeView(1, providers, RESOURCES) });
  rig.runs.onStart = (run) => run.write(endWith({}));
  const headers = await rig.initialize();
  for (const { name } of RESOURCES) {
    const body = JSON.stringify({ jsonrpc: "2.0", id: name, method: "resources/subscribe", params: { uri: name } });
    await rig.send({ headers, body });
  }
  const before = rig.runs.started.length;
  await rig.front.subscribeAgain(new Set(["files"]));
  const again = rig.runs.started.slice(before).map(({ order }) => [order.method, order.input.text, order.session?.id]);
  expect(again).toEqual([
    ["resources/subscribe", '{"uri":"doc://a"}', headers["mcp-session-id"]],
    ["resources/subscribe", '{"uri":"doc://b"}', headers["mcp-session-id"]],
  ]);
});

test("a subscription whose request two readers could read differently is refused before anything stands", async () => {
  const providers = [okProvider("files", '{"resources":{"subscribe":true}}')];
  await using rig = await mcpRig({ view: new FakeView(1, providers, RESOURCES) });
  rig.runs.onStart = (run) => run.write(endWith({}));
  const headers = await rig.initialize();
  const params = '{"uri":"doc://a","_meta":{"progressToken":1,"progressToken":2}}';
  const body = `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":${params}}`;
  expect((await rig.send({ headers, body })).status).toBe(400);
  expect(rig.refused).toMatchObject([{ reason: "message", name: "resources/subscribe" }]);
  const before = rig.runs.started.length;
  await rig.front.subscribeAgain(new Set(["files"]));
  expect(rig.runs.started).toHaveLength(before);
});

test("what the successor does not offer any more is left alone", async () => {
  const providers = [okProvider("files", '{"resources":{"subscribe":true}}')];
  await using rig = await mcpRig({ view: new FakeView(1, providers, RESOURCES) });
  rig.runs.onStart = (run) => run.write(endWith({}));
  const headers = await rig.initialize();
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri: "doc://a" } });
  await rig.send({ headers, body });
  rig.catalog.current = new FakeView(2, providers, []);
  const before = rig.runs.started.length;
  await rig.front.subscribeAgain(new Set(["files"]));
  expect(rig.runs.started).toHaveLength(before);
});
