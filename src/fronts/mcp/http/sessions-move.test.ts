import { describe, expect, test } from "vitest";
import { clusterRig, LEASE_MS, RESOURCES } from "../../../../tests/kit/cluster-rig.ts";
import { FakeView, okProvider } from "../../../../tests/kit/fake-catalog.ts";
import { call, endWith, until } from "../../../../tests/kit/mcp-rig.ts";
import { payload } from "../../../contract/index.ts";

const LIST = '{"jsonrpc":"2.0","id":7,"method":"tools/list"}';
const PING = '{"jsonrpc":"2.0","id":8,"method":"ping"}';
const request = (method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const updated = (uri: string) => ({
  from: "files",
  to: { resource: uri },
  method: "notifications/resources/updated",
  payload: payload(JSON.stringify({ uri })),
});
const told = (id: string | undefined, method: string) =>
  ({ from: "files", to: { session: id as string }, method, payload: payload("{}") }) as const;

describe("a session", () => {
  test("is served by whichever process gets its requests, each on its own connection [AP-086] [AP-089] [AP-098]", async () => {
    await using rig = await clusterRig();
    const { a, b, hops } = rig;
    const headers = await a.initialize();
    a.runs.onStart = (run) => run.write(endWith({ content: [] }));
    for (const node of [b, a, b, a, b]) {
      expect((await node.send({ headers, body: call(1) })).json()).toMatchObject({ result: { content: [] } });
      expect((await node.send({ headers, body: LIST })).json()).toMatchObject({ result: { tools: [{}] } });
    }
    expect(hops.forwarded.length).toBe(6);
  });

  test("stays at its home under normal traffic, which every process finds in the store [AP-088] [AP-100] [AP-104]", async () => {
    await using rig = await clusterRig();
    const headers = await rig.a.initialize();
    const id = headers["mcp-session-id"];
    for (let n = 0; n < 5; n++) await rig.b.send({ headers, body: PING });
    expect(await rig.memory.entries.get(`session:${id}`)).toMatchObject({ owner: rig.a.self.id, fence: 1 });
    expect([rig.a.sessions.size, rig.b.sessions.size]).toEqual([1, 0]);
  });

  test("is claimed and served by another process when its home is gone, from its record in the store [AP-105] [AP-109] [AP-552]", async () => {
    await using rig = await clusterRig();
    const { a, b } = rig;
    const headers = await a.initialize("2025-06-18", { roots: {} });
    await a.kill();
    b.runs.onStart = (run) => run.write(endWith({ content: [] }));
    expect((await b.send({ headers, body: call(1) })).json()).toMatchObject({ result: { content: [] } });
    const id = headers["mcp-session-id"] as string;
    expect(await rig.memory.entries.get(`session:${id}`)).toMatchObject({ owner: b.self.id, fence: 2 });
    expect(b.runs.last.order.session).toMatchObject({
      protocol: "2025-06-18",
      capabilities: { text: '{"roots":{}}' },
      clientInfo: { text: '{"name":"test","version":"1"}' },
      canBeAsked: true,
    });
    expect(b.catalog.entered).toBe(1);
  });

  test("is waited for while the lease of a silent home runs out", async () => {
    await using rig = await clusterRig();
    const { a, b, time, hops } = rig;
    const headers = await a.initialize();
    await a.kill({ isSilent: true });
    const answer = b.send({ headers, body: LIST });
    await until(() => hops.forwarded.length > 0);
    for (let waited = 0; waited < LEASE_MS; waited += 250) {
      const before = hops.forwarded.length;
      time.advance(250);
      await until(() => hops.forwarded.length > before || b.sessions.size === 1);
    }
    expect((await answer).json()).toMatchObject({ result: { tools: [{}] } });
  });

  test("is nobody's who is not its principal or comes by another path, and does not move for them", async () => {
    await using rig = await clusterRig();
    const { a, b } = rig;
    const headers = await a.initialize();
    const id = headers["mcp-session-id"] as string;
    await a.kill();
    expect((await b.send({ path: "/files/mcp", headers, body: PING })).status).toBe(404);
    const voice = { voice: {} as never, enter: async () => undefined, entered: () => undefined };
    const wanted = { id, principal: { id: "other" }, catalog: "" };
    expect(await b.sessions.locate(wanted, voice)).toEqual({ type: "nowhere" });
    expect(await rig.memory.entries.get(`session:${id}`)).toMatchObject({ owner: a.self.id, fence: 1 });
    const unknown = { ...headers, "mcp-session-id": id.replace(/^./, (digit) => (digit === "0" ? "1" : "0")) };
    expect((await b.send({ headers: unknown, body: PING })).status).toBe(404);
    expect((await b.send({ headers: { ...headers, "mcp-session-id": "session:x" }, body: PING })).status).toBe(404);
    expect((await b.send({ headers, body: PING })).status).toBe(200);
  });

  test("is taken by one of two processes that race for it; the other hands over", async () => {
    await using rig = await clusterRig();
    const c = await rig.join();
    const headers = await rig.a.initialize();
    await rig.a.kill();
    const answers = await Promise.all([rig.b, c, rig.b, c].map((node) => node.send({ headers, body: LIST })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(rig.b.sessions.size + c.sessions.size).toBe(1);
    expect(rig.b.catalog.entered + c.catalog.entered).toBe(1);
    await c[Symbol.asyncDispose]();
  });

  test("that was taken over is announced, and dropped by whoever still had it [AP-120] [AP-122] [AP-123] [AP-124]", async () => {
    await using rig = await clusterRig();
    const { a, b } = rig;
    const headers = await a.initialize();
    const id = headers["mcp-session-id"];
    const stream = await a.open({ method: "GET", headers });
    // A process that was stopped for longer than its lease, and knows nothing of it.
    await rig.memory.members.leave(a.self.id);
    expect((await b.send({ headers, body: PING })).status).toBe(200);
    await stream.ended();
    expect(rig.words).toEqual([`session:${id}`]);
    expect([a.sessions.size, b.sessions.size]).toEqual([0, 1]);
    expect(a.catalog.left).toEqual([id]);
    // It has to look again, and hands over.
    await rig.memory.members.join({ id: "again", address: "" }, LEASE_MS);
    expect((await a.send({ headers, body: PING })).status).toBe(200);
    expect(rig.hops.forwarded.length).toBe(1);
  });

  test("is dropped by a home that may not write it any more, although it heard nothing", async () => {
    await using rig = await clusterRig();
    const { a, time } = rig;
    const headers = await a.initialize();
    const id = headers["mcp-session-id"];
    await rig.memory.members.leave(a.self.id);
    await rig.memory.entries.claim(`session:${id}`, rig.b.self.id);
    time.advance(1);
    const level = await a.send({ headers, body: request("logging/setLevel", { level: "error" }) });
    expect([level.status, a.sessions.size]).toEqual([503, 0]);
  });

  test("ends everywhere with a DELETE anywhere", async () => {
    await using rig = await clusterRig();
    const { a, b } = rig;
    const headers = await a.initialize();
    a.sessions.notice(told(headers["mcp-session-id"], "x/one"));
    expect((await b.send({ method: "DELETE", headers })).status).toBe(200);
    for (const node of [a, b]) expect((await node.send({ headers, body: PING })).status).toBe(404);
    expect(await rig.memory.logs.read(`outbox:${headers["mcp-session-id"]}`, 0)).toEqual([]);
    expect(await rig.memory.entries.get(`session:${headers["mcp-session-id"]}`)).toBeUndefined();
  });

  test("outlives a restart where there is only one process at a time [AP-109]", async () => {
    await using rig = await clusterRig({ hasNoHop: true });
    const headers = await rig.a.initialize();
    await rig.a.sessions.flush();
    rig.a.sessions.close();
    await rig.memory.members.leave(rig.a.self.id);
    expect((await rig.b.send({ headers, body: LIST })).json()).toMatchObject({ result: { tools: [{}] } });
  });

  test("expires for everybody when nobody used it, and not before [AP-112]", async () => {
    await using rig = await clusterRig({ idleMs: 600_000 });
    const headers = await rig.a.initialize();
    const key = `session:${headers["mcp-session-id"]}`;
    rig.a.sessions.notice(told(headers["mcp-session-id"], "x/one"));
    for (let minute = 0; minute < 20; minute++) {
      expect((await rig.a.send({ headers, body: PING })).status).toBe(200);
      rig.time.advance(60_000);
      await rig.memory.members.join({ id: rig.a.self.id, address: "x" }, LEASE_MS);
    }
    expect(await rig.memory.entries.get(key)).toBeDefined();
    await rig.a.kill();
    rig.time.advance(800_000);
    expect(await rig.memory.entries.get(key)).toBeUndefined();
    expect(await rig.memory.logs.read(`outbox:${headers["mcp-session-id"]}`, 0)).toEqual([]);
    expect((await rig.b.send({ headers, body: PING })).status).toBe(404);
  });
});

describe("what a session agreed on", () => {
  test("survives its home: subscriptions, log level, and which lists it was told of", async () => {
    await using rig = await clusterRig({ view: RESOURCES });
    const { a, b } = rig;
    const headers = await a.initialize();
    for (const node of [a, b]) node.runs.onStart = (run) => run.write(endWith({}));
    await a.send({ headers, body: LIST });
    await a.send({ headers, body: request("resources/subscribe", { uri: "doc://a" }) });
    await b.send({ headers, body: request("logging/setLevel", { level: "error" }) });
    await a.kill();
    const stream = await b.open({ method: "GET", headers });
    await until(() => b.runs.started.length === 1);
    expect(b.runs.last.order).toMatchObject({ method: "resources/subscribe", input: { text: '{"uri":"doc://a"}' } });
    expect(b.catalog.notified).toMatchObject([{ method: "logging/setLevel", input: { text: '{"level":"error"}' } }]);
    b.sessions.notice(updated("doc://a"));
    expect(await stream.message(0)).toMatchObject({ method: "notifications/resources/updated" });
    b.sessions.notice({
      ...told(headers["mcp-session-id"], "notifications/message"),
      payload: payload('{"level":"info"}'),
    });
    b.sessions.notice(told(headers["mcp-session-id"], "x/last"));
    expect(await stream.message(1)).toMatchObject({ method: "x/last" });
  });

  test("is not told as agreed while the store is away", async () => {
    await using rig = await clusterRig({ view: RESOURCES });
    const { a } = rig;
    const headers = await a.initialize();
    rig.outage.isOn = true;
    const level = await a.send({ headers, body: request("logging/setLevel", { level: "error" }) });
    expect([level.status, level.headers["retry-after"]]).toEqual([503, "1"]);
    const subscribed = await a.send({ headers, body: request("resources/subscribe", { uri: "doc://a" }) });
    expect(subscribed.json()).toMatchObject({ error: { data: { code: "STATE_UNAVAILABLE" } } });
    expect(a.runs.started).toEqual([]);
    expect((await a.send({ headers, body: PING })).status).toBe(200);
  });

  test("tells a client of lists that changed while its session had no home", async () => {
    await using rig = await clusterRig();
    const headers = await rig.a.initialize();
    await rig.a.send({ headers, body: LIST });
    await rig.a.sessions.flush();
    await rig.a.kill();
    rig.b.catalog.current = new FakeView(1, [okProvider("files")], [{ kind: "tool", name: "other" }]);
    const stream = await rig.b.open({ method: "GET", headers });
    expect(await stream.message(0)).toEqual({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  });
});

describe("an outage of the store", () => {
  test("refuses new sessions and those at home elsewhere, and no others", async () => {
    await using rig = await clusterRig();
    const { a, b } = rig;
    const headers = await a.initialize();
    rig.outage.isOn = true;
    const opening = request("initialize", { protocolVersion: "2025-11-25", capabilities: {} });
    const refused = await a.send({ body: opening });
    expect([refused.status, refused.headers["retry-after"], refused.headers["mcp-session-id"]]).toEqual([
      503,
      "1",
      undefined,
    ]);
    expect(refused.json()).toMatchObject({ id: 1, error: { data: { code: "STATE_UNAVAILABLE", retry: "later" } } });
    const elsewhere = await b.send({ headers, body: PING });
    expect([elsewhere.status, elsewhere.headers["retry-after"]]).toEqual([503, "1"]);
    expect(elsewhere.json()).toMatchObject({ id: 8, error: { data: { code: "STATE_UNAVAILABLE" } } });
    expect((await b.open({ method: "GET", headers })).status).toBe(503);
    expect((await a.send({ headers, body: PING })).status).toBe(200);
    expect((await a.send({ method: "DELETE", headers })).status).toBe(503);
    expect(a.sessions.size).toBe(1);
    rig.outage.isOn = false;
    expect((await b.send({ headers, body: PING })).status).toBe(200);
  });
});

describe("a message whose way broke", () => {
  test("is repeated where it does no harm, and a call that may have been made is not", async () => {
    await using rig = await clusterRig();
    const { a, b, hops } = rig;
    const headers = await a.initialize();
    hops.wasSent = true;
    const gate = Promise.withResolvers<void>();
    hops.hold = gate.promise;
    const bodies = [
      LIST,
      call(5),
      request("vendor/act", {}),
      '{"jsonrpc":"2.0","id":3,"result":{}}',
      '{"jsonrpc":"2.0","method":"notifications/x"}',
    ];
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const answers = Promise.all(bodies.map((body) => b.send({ headers: { ...headers, traceparent }, body })));
    await until(() => hops.forwarded.length === bodies.length);
    await a.kill();
    hops.hold = undefined;
    gate.resolve();
    await until(() => rig.time.pending > 0);
    const all = answers;
    for (let n = 0; n < 20; n++) {
      rig.time.advance(250);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [list, called, raw, answered, notified] = await all;
    expect(list?.json()).toMatchObject({ result: { tools: [{}] } });
    expect(called?.json()).toMatchObject({
      id: 5,
      result: { isError: true, _meta: { "dev.isthmus/error": { code: "OUTCOME_UNKNOWN", retry: "caller" } } },
    });
    expect(raw?.json()).toMatchObject({ error: { code: -32603, data: { code: "OUTCOME_UNKNOWN" } } });
    expect([answered?.status, notified?.status]).toEqual([202, 202]);
    expect(b.runs.started).toEqual([]);
    const traceId = "0af76519-16cd-43dd-8448-eb211c80319c";
    expect(b.lost).toMatchObject([
      { method: "tools/call", target: { server: "", name: "files.echo" }, traceId },
      { method: "vendor/act", target: { server: "", name: "" }, traceId },
    ]);
  });

  test("is repeated although it is a call when nothing of it was sent", async () => {
    await using rig = await clusterRig();
    const { a, b, hops } = rig;
    const headers = await a.initialize();
    b.runs.onStart = (run) => run.write(endWith({ content: [] }));
    a.node.isDead = true;
    const answer = b.send({ headers, body: call(5) });
    await until(() => hops.forwarded.length > 0);
    await a.kill();
    await until(() => rig.time.pending > 1);
    rig.time.advance(250);
    expect((await answer).json()).toMatchObject({ result: { content: [] } });
    expect(b.runs.started.length).toBe(1);
  });

  test("is refused after it passed three processes", async () => {
    await using rig = await clusterRig();
    const headers = await rig.a.initialize();
    // Each believes that the other has it.
    rig.hops.nodes.set(rig.a.self.id, rig.b.node);
    const answer = await rig.b.send({ headers, body: PING });
    expect([answer.status, rig.hops.forwarded.length]).toEqual([503, 3]);
  });
});

describe("an answer to a question", () => {
  test("reaches its run from whichever process it was posted to", async () => {
    await using rig = await clusterRig();
    const { a, b } = rig;
    const headers = await a.initialize("2025-11-25", { elicitation: {} });
    const opening = b.open({ headers, body: call(1) });
    await until(() => a.runs.started.length === 1);
    const ask = { key: "k", kind: "elicit", method: "elicitation/create", input: payload("{}") } as const;
    a.runs.last.write({ type: "ask", asks: [ask] });
    const stream = await opening;
    const { id } = (await stream.message(0)) as unknown as { id: number };
    const body = JSON.stringify({ jsonrpc: "2.0", id, result: { action: "accept" } });
    expect((await b.send({ headers, body })).status).toBe(202);
    expect(a.runs.last.replies).toMatchObject([{ type: "answer", answers: [{ key: "k", outcome: "result" }] }]);
    a.runs.last.write(endWith({ content: [] }));
    expect(await stream.message(1)).toMatchObject({ id: 1, result: { content: [] } });
  });
});
