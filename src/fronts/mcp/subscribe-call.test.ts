import { describe, expect, test } from "vitest";
import { type FakePrimitive, FakeView, okProvider } from "../../../tests/kit/fake-catalog.ts";
import { endWith, mcpRig, until } from "../../../tests/kit/mcp-rig.ts";
import { type Entry, PEER, payload } from "../../contract/index.ts";

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

test("what many sessions subscribed to is judged once for all who see the same, when callers may reach something else", async () => {
  const providers = [okProvider("files", '{"resources":{"subscribe":true}}')];
  await using rig = await mcpRig({ view: new FakeView(1, providers, RESOURCES) });
  rig.runs.onStart = (run) => run.write(endWith({}));
  for (let session = 0; session < 5; session++) {
    const headers = await rig.initialize();
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri: "doc://a" } });
    await rig.send({ headers, body });
  }
  let judged = 0;
  const view = Object.assign(rig.catalog.view(), { hears: () => judged++ < 0 });
  rig.catalog.view = () => view;
  rig.front.reachChanged();
  expect(judged).toBe(1);
  expect(rig.sessions.subscriptions()).toEqual([]);
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

describe("when a client may not see a resource any more that it subscribed to", () => {
  const providers = ["files", "other"].map((id) => okProvider(id, '{"resources":{"subscribe":true}}'));

  async function subscribed() {
    const rig = await mcpRig({ view: new FakeView(1, providers, RESOURCES) });
    rig.runs.onStart = (run) => run.write(endWith({}));
    const headers = await rig.initialize();
    for (const { name } of RESOURCES) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: name, method: "resources/subscribe", params: { uri: name } });
      await rig.send({ headers, body });
    }
    const stream = await rig.open({ method: "GET", headers });
    const updated = (from: string, uri: string) =>
      rig.sessions.notice({
        from,
        method: "notifications/resources/updated",
        payload: payload(JSON.stringify({ uri })),
        to: { resource: uri },
      });
    const heard = () =>
      stream.events.filter(({ data }) => data !== "").map(({ data }) => (JSON.parse(data) as Heard).params.uri);
    return { rig, stream, updated, heard };
  }
  type Heard = { params: { uri: string } };

  test("it hears no more of it, and its server learns that it does not listen", async () => {
    const { rig, updated, heard } = await subscribed();
    await using _ = rig;
    const all = new FakeView(1, providers, RESOURCES);
    const few = new FakeView(2, providers, RESOURCES.slice(2));
    rig.catalog.view = (_catalog, by) => (by?.id === PEER.id ? all : few);
    const before = rig.runs.started.length;
    rig.front.reachChanged();
    const given = rig.runs.started.slice(before).map(({ order }) => [order.method, order.input.text, order.life]);
    expect(given).toEqual([
      ["resources/unsubscribe", '{"uri":"doc://a"}', "detached"],
      ["resources/unsubscribe", '{"uri":"doc://b"}', "detached"],
    ]);
    updated("files", "doc://a");
    updated("files", "doc://b");
    updated("other", "doc://c");
    await until(() => heard().length > 0);
    expect(heard()).toEqual(["doc://c"]);
  });

  test("it hears no more of it also where it is found, and refused when it is called", async () => {
    const { rig, updated, heard } = await subscribed();
    await using _ = rig;
    const open = Object.assign(new FakeView(2, providers, RESOURCES), {
      hears: ({ target }: Entry) => target.name !== "doc://a",
    });
    rig.catalog.view = () => open;
    updated("files", "doc://a");
    updated("files", "doc://b");
    await until(() => heard().length > 0);
    rig.front.reachChanged();
    expect(heard()).toEqual(["files+doc://b"]);
    expect(rig.runs.last.order.method).toBe("resources/unsubscribe");
  });

  test("it hears nothing of a part that it may not see, by its server's name of it, and of the others as before", async () => {
    const { rig, updated, heard } = await subscribed();
    await using _ = rig;
    const asked: string[] = [];
    const open = Object.assign(new FakeView(2, providers, RESOURCES), {
      hearsOf: (provider: string, uri: string) => asked.push(`${provider} ${uri}`) > 0 && !uri.includes("private"),
    });
    rig.catalog.view = () => open;
    for (const uri of ["doc://b/private/x", "doc://b/public", "doc://b"]) updated("files", uri);
    await until(() => heard().length > 1);
    expect(heard()).toEqual(["files+doc://b/public", "files+doc://b"]);
    expect(asked).toEqual(["files doc://b/private/x", "files doc://b/public"]);
  });
});
