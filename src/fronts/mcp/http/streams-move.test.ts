import { describe, expect, test } from "vitest";
import { clusterRig, LEASE_MS } from "../../../../tests/kit/cluster-rig.ts";
import { call, endWith, until } from "../../../../tests/kit/mcp-rig.ts";
import { payload } from "../../../contract/index.ts";

type Rig = Awaited<ReturnType<typeof clusterRig>>;

const progress = (n: number) =>
  ({ type: "progress", payload: payload(`{"progressToken":1,"progress":${n}}`) }) as const;
const TOKEN = { _meta: { progressToken: 9 } };
const PING = '{"jsonrpc":"2.0","id":8,"method":"ping"}';

function tell(node: Rig["a"], headers: Record<string, string>, ...methods: string[]): void {
  const to = { session: headers["mcp-session-id"] as string };
  for (const method of methods) node.sessions.notice({ from: "files", to, method, payload: payload("{}") });
}

/** What was said of the session has come to the store. */
async function written(rig: Rig, headers: Record<string, string>, count: number): Promise<void> {
  let length = 0;
  const log = `outbox:${headers["mcp-session-id"]}`;
  while (length < count) length = (await rig.memory.logs.read(log, 0)).length;
}

async function journaled(rig: Rig, run: string, count: number): Promise<void> {
  let length = 0;
  while (length < count) length = (await rig.memory.logs.read(`journal:${run}`, -1)).length;
}

describe("a session's own stream", () => {
  test("goes on at another process after the event the client names, nothing lost or doubled [AP-113] [AP-171] [AP-172] [AP-173]", async () => {
    for (const cut of [0, 1, 2, 3]) {
      await using rig = await clusterRig();
      const headers = await rig.a.initialize();
      const stream = await rig.b.open({ method: "GET", headers });
      tell(rig.a, headers, "x/1", "x/2", "x/3");
      await stream.message(2);
      await written(rig, headers, 3);
      const ids = stream.events.map((event) => event.id as string);
      await rig.a.kill();
      await stream.ended();
      const again = await rig.b.open({ method: "GET", headers: { ...headers, "last-event-id": ids[cut] as string } });
      tell(rig.b, headers, "x/4");
      await again.message(3 - cut);
      const methods = again.events.filter(({ data }) => data !== "").map(({ data }) => JSON.parse(data).method);
      expect(methods).toEqual(["x/1", "x/2", "x/3", "x/4"].slice(cut));
      again.close();
    }
  });

  test("brings what came while the client was away, from the store [AP-110] [AP-172] [AP-553]", async () => {
    await using rig = await clusterRig();
    const headers = await rig.a.initialize();
    tell(rig.a, headers, "x/1", "x/2");
    await written(rig, headers, 2);
    await rig.a.kill();
    const stream = await rig.b.open({ method: "GET", headers });
    expect([await stream.message(0), await stream.message(1)]).toMatchObject([{ method: "x/1" }, { method: "x/2" }]);
  });

  test("repeats nothing to a client that names no event, although its home is another", async () => {
    await using rig = await clusterRig();
    const headers = await rig.a.initialize();
    const first = await rig.a.open({ method: "GET", headers });
    tell(rig.a, headers, "x/1");
    await first.message(0);
    await written(rig, headers, 1);
    first.close();
    await rig.a.kill();
    const again = await rig.b.open({ method: "GET", headers });
    tell(rig.b, headers, "x/2");
    expect(await again.message(0)).toMatchObject({ method: "x/2" });
  });

  test("does not take a new event for one that its client saw but nobody wrote down", async () => {
    await using rig = await clusterRig();
    const headers = await rig.a.initialize();
    const stream = await rig.a.open({ method: "GET", headers });
    rig.outage.isOn = true;
    tell(rig.a, headers, "x/1");
    await stream.message(0);
    const seen = stream.events.at(-1)?.id as string;
    await rig.a.kill();
    rig.outage.isOn = false;
    await rig.b.send({ headers, body: PING });
    tell(rig.b, headers, "x/2", "x/3");
    const again = await rig.b.open({ method: "GET", headers: { ...headers, "last-event-id": seen } });
    expect(await again.message(0)).toMatchObject({ method: "x/2" });
  });

  test("begins with the oldest that is left, and says so, when the place is too far back [AP-111]", async () => {
    await using rig = await clusterRig({ outbox: { maxItems: 2, maxBytes: 4096 } });
    const headers = await rig.a.initialize();
    tell(rig.a, headers, "x/1", "x/2", "x/3", "x/4");
    const back = { ...headers, "last-event-id": "out.0" };
    const here = await rig.a.open({ method: "GET", headers: back });
    expect(await here.message(0)).toMatchObject({ method: "notifications/message", params: { level: "warning" } });
    expect([await here.message(1), await here.message(2)]).toMatchObject([{ method: "x/3" }, { method: "x/4" }]);
    await written(rig, headers, 2);
    expect((await rig.memory.logs.read(`outbox:${headers["mcp-session-id"]}`, 0)).length).toBe(2);
    await rig.a.kill();
    const there = await rig.b.open({ method: "GET", headers: back });
    expect(await there.message(0)).toMatchObject({ method: "notifications/message" });
    expect(await there.message(1)).toMatchObject({ method: "x/3" });
    const near = await rig.b.open({ method: "GET", headers: { ...headers, "last-event-id": "out.3" } });
    expect(await near.message(0)).toMatchObject({ method: "x/4" });
  });

  test("takes questions back whose askers died with their process, and asks none again", async () => {
    await using rig = await clusterRig();
    const { a, b } = rig;
    const headers = await a.initialize("2025-11-25", { roots: {} });
    const session = a.sessions.find(headers["mcp-session-id"] as string, { id: "local" });
    const ask = { key: "k", kind: "roots", method: "roots/list", input: payload("{}") } as const;
    const { signal } = new AbortController();
    const seen = a.sessions.ask(session as never, ask, signal);
    const stream = await a.open({ method: "GET", headers });
    const question = (await stream.message(0)) as unknown as { id: number };
    stream.close();
    await until(() => session?.outbox?.isOpen === false);
    const unseen = a.sessions.ask(session as never, ask, signal);
    await written(rig, headers, 2);
    await a.sessions.flush();
    const gone = Promise.allSettled([seen, unseen]);
    await a.kill();
    await gone;
    const again = await b.open({ method: "GET", headers: { ...headers, "last-event-id": "out.1" } });
    expect(await again.message(0)).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: question.id },
    });
    const taken = b.sessions.find(headers["mcp-session-id"] as string, { id: "local" });
    void b.sessions.ask(taken as never, ask, signal).catch(() => undefined);
    const asked = (await again.message(1)) as unknown as { id: number; method: string };
    expect([asked.method, asked.id > question.id + 1]).toEqual(["roots/list", true]);
    const late = JSON.stringify({ jsonrpc: "2.0", id: question.id, result: {} });
    expect((await b.send({ headers, body: late })).status).toBe(202);
  });
});

describe("the stream of a call", () => {
  async function calling(rig: Rig, version = "2025-11-25") {
    const headers = await rig.a.initialize(version);
    const opening = rig.b.open({ headers, body: call(1, {}, TOKEN) });
    await until(() => rig.a.runs.started.length === 1);
    const run = rig.a.runs.last;
    run.write(progress(1));
    run.write(progress(2));
    const stream = await opening;
    await stream.message(1);
    return { headers, run, stream };
  }

  test("can be gone on with through another process while its home lives", async () => {
    await using rig = await clusterRig();
    const { headers, run, stream } = await calling(rig);
    const seen = stream.events.find((event) => event.data !== "")?.id as string;
    stream.close();
    const again = await rig.b.open({ method: "GET", headers: { ...headers, "last-event-id": seen } });
    expect(await again.message(0)).toMatchObject({ params: { progress: 2 } });
    run.write(endWith({ content: [] }));
    expect(await again.message(1)).toMatchObject({ id: 1, result: { content: [] } });
  });

  test("ends as unknown when the call died with its process, after what the client has not seen [AP-171]", async () => {
    for (const cut of [0, 1]) {
      await using rig = await clusterRig();
      const { headers, run, stream } = await calling(rig);
      await journaled(rig, run.id, 3);
      const ids = stream.events.filter((event) => event.data !== "").map((event) => event.id as string);
      await rig.a.kill();
      await stream.ended();
      const back = { ...headers, "last-event-id": ids[cut] as string };
      const again = await rig.b.open({ method: "GET", headers: back });
      await again.ended();
      const messages = again.events.map(({ data }) => JSON.parse(data));
      expect(messages.length).toBe(2 - cut);
      if (cut === 0) expect(messages[0]).toMatchObject({ params: { progress: 2, progressToken: 9 } });
      expect(messages.at(-1)).toMatchObject({
        id: 1,
        result: { isError: true, _meta: { "dev.isthmus/error": { code: "OUTCOME_UNKNOWN", callId: run.id } } },
      });
    }
  });

  test("brings the answer that its process had written down before it died [AP-173]", async () => {
    await using rig = await clusterRig();
    const { headers, run, stream } = await calling(rig);
    const seen = stream.events.filter((event) => event.data !== "").at(-1)?.id as string;
    run.write(endWith({ content: [] }));
    await journaled(rig, run.id, 4);
    await stream.ended();
    const last = stream.events.at(-1)?.id as string;
    await rig.a.kill();
    const again = await rig.b.open({ method: "GET", headers: { ...headers, "last-event-id": seen } });
    await again.ended();
    expect(again.events.map(({ data }) => JSON.parse(data))).toMatchObject([{ id: 1, result: { content: [] } }]);
    const over = await rig.b.open({ method: "GET", headers: { ...headers, "last-event-id": last } });
    expect(over.status).toBe(204);
  });

  test("brings no answer that its process had written down to whoever may not make the call any more", async () => {
    await using rig = await clusterRig();
    const { headers, run, stream } = await calling(rig);
    const seen = stream.events.filter((event) => event.data !== "").at(-1)?.id as string;
    run.write(endWith({ content: [] }));
    await journaled(rig, run.id, 4);
    await stream.ended();
    await rig.a.kill();
    const rest = async (isTold: boolean) => {
      rig.b.catalog.tells = (_catalog, _principal, made) => {
        expect(made).toEqual({ target: run.call.target, args: run.call.input.at(["arguments"]) });
        return isTold;
      };
      const again = await rig.b.open({ method: "GET", headers: { ...headers, "last-event-id": seen } });
      await again.ended();
      return again.events.map(({ data }) => JSON.parse(data));
    };
    expect(await rest(false)).toMatchObject([{ id: 1, result: { isError: true } }]);
    expect(await rest(true)).toMatchObject([{ id: 1, result: { content: [] } }]);
  });

  test("repeats no question of a call that is dead, and is found by the table of open calls without a journal", async () => {
    await using rig = await clusterRig();
    const headers = await rig.a.initialize("2025-11-25", { elicitation: {} });
    const opening = rig.b.open({ headers, body: call(1) });
    await until(() => rig.a.runs.started.length === 1);
    const run = rig.a.runs.last;
    const ask = { key: "k", kind: "elicit", method: "elicitation/create", input: payload("{}") } as const;
    run.write({ type: "ask", asks: [ask] });
    await (await opening).message(0);
    await journaled(rig, run.id, 2);
    const session = headers["mcp-session-id"] as string;
    const target = { provider: "files", kind: "tool", name: "echo" };
    const facts = JSON.stringify({ requestId: '"x"', method: "tools/call", target, trace: "t-1", startedAt: 0 });
    await rig.memory.calls.admit({ call: "lost-1", member: rig.a.self.id, session, facts, ttlMs: LEASE_MS });
    await rig.a.kill();
    const again = await rig.b.open({ method: "GET", headers: { ...headers, "last-event-id": `${run.id}.-1` } });
    await again.ended();
    expect(again.events.map(({ data }) => JSON.parse(data))).toMatchObject([{ id: 1, result: { isError: true } }]);
    const open = await rig.b.open({ method: "GET", headers: { ...headers, "last-event-id": "lost-1.-1" } });
    await open.ended();
    expect(open.events.map(({ data }) => JSON.parse(data))).toMatchObject([{ id: "x", result: { isError: true } }]);
    expect(rig.b.lost).toMatchObject([
      { method: "tools/call", target: { server: "files", name: "echo" }, traceId: expect.any(String) },
      { method: "tools/call", target: { server: "files", name: "echo" }, traceId: "t-1" },
    ]);
    const unknown = await rig.b.open({ method: "GET", headers: { ...headers, "last-event-id": "never.0" } });
    expect(unknown.status).toBe(204);
  });

  test("is told to the audit trail once, however often its client comes back for a call that died", async () => {
    await using rig = await clusterRig();
    const { headers, run } = await calling(rig);
    await journaled(rig, run.id, 3);
    const session = headers["mcp-session-id"] as string;
    const target = { provider: "files", kind: "tool", name: "echo" };
    const facts = JSON.stringify({ requestId: "1", method: "tools/call", target, trace: "t-1", startedAt: 0 });
    await rig.memory.calls.admit({ call: run.id, member: rig.a.self.id, session, facts, ttlMs: LEASE_MS });
    await rig.a.kill();
    for (let time = 0; time < 2; time++) {
      const again = await rig.b.open({ method: "GET", headers: { ...headers, "last-event-id": `${run.id}.-1` } });
      await again.ended();
      expect(again.events.at(-1)?.data).toContain("OUTCOME_UNKNOWN");
    }
    expect(rig.b.lost).toMatchObject([{ target: { server: "files", name: "echo" }, traceId: "t-1" }]);
  });

  test("is told to the audit trail once where its process had struck it off, or never entered it, before it died", async () => {
    await using rig = await clusterRig();
    const headers = await rig.a.initialize();
    const traceId = "aaaaaaaa-0000-4000-8000-000000000001";
    const opening = rig.a.open({ headers, body: call(1, {}, { _meta: { progressToken: 9 }, trace_id: traceId }) });
    await until(() => rig.a.runs.started.length === 1);
    const run = rig.a.runs.last;
    run.write(progress(1));
    await (await opening).message(0);
    await journaled(rig, run.id, 2);
    await rig.a.kill();
    const heard: string[] = [];
    for (let time = 0; time < 2; time++) {
      const again = await rig.b.open({ method: "GET", headers: { ...headers, "last-event-id": `${run.id}.0` } });
      await again.ended();
      heard.push(JSON.stringify(again.events.at(-1)));
    }
    expect(heard[0]).toContain("OUTCOME_UNKNOWN");
    expect(heard[1]).toBe(heard[0]);
    expect(rig.b.lost).toMatchObject([{ method: "tools/call", target: { server: "files", name: "echo" }, traceId }]);
    const last = JSON.parse(heard[0] ?? "").id as string;
    const over = await rig.b.open({ method: "GET", headers: { ...headers, "last-event-id": last } });
    expect(over.status).toBe(204);
  });

  test("is answered as unknown at once where no stream was open when the process was taken for dead", async () => {
    await using rig = await clusterRig();
    const headers = await rig.a.initialize();
    const answer = rig.a.send({ headers, body: call(1) });
    await until(() => rig.a.runs.started.length === 1);
    rig.a.sessions.forgetAll();
    expect((await answer).json()).toMatchObject({
      id: 1,
      result: { isError: true, _meta: { "dev.isthmus/error": { code: "OUTCOME_UNKNOWN" } } },
    });
    expect(rig.a.runs.last.cancelled).toBe("the session moved to another process");
    expect(await rig.memory.entries.get(`session:${headers["mcp-session-id"]}`)).toBeDefined();
  });

  test("that another session had is not given", async () => {
    await using rig = await clusterRig();
    const { run } = await calling(rig);
    await journaled(rig, run.id, 3);
    const other = await rig.b.initialize();
    const stolen = await rig.b.open({ method: "GET", headers: { ...other, "last-event-id": `${run.id}.-1` } });
    expect(stolen.status).toBe(204);
  });
});

describe("without a session id", () => {
  test("a call is its own session and leaves nothing in the store [AP-087] [AP-162]", async () => {
    await using rig = await clusterRig();
    rig.b.runs.onStart = (run) => run.write(endWith({ content: [] }));
    expect((await rig.b.send({ body: call(1) })).json()).toMatchObject({ result: { content: [] } });
    expect([rig.b.sessions.size, rig.b.runs.last.order.session?.isEphemeral]).toEqual([0, true]);
    expect(await rig.memory.entries.get(`session:${rig.b.runs.last.order.session?.id}`)).toBeUndefined();
  });

  for (const sessions of ["auto", "stateful"] as const) {
    test(`mode ${sessions} serves sessions of any process alike [AP-106] [AP-107] [AP-108]`, async () => {
      await using rig = await clusterRig({ config: { sessions } });
      const headers = await rig.a.initialize();
      for (const node of [rig.a, rig.b]) node.runs.onStart = (run) => run.write(endWith({ content: [] }));
      for (const node of [rig.a, rig.b]) {
        expect((await node.send({ headers, body: call(1) })).json()).toMatchObject({ result: { content: [] } });
      }
      await rig.a.kill();
      expect((await rig.b.send({ headers, body: call(1) })).json()).toMatchObject({ result: { content: [] } });
      expect((await rig.b.send({ body: PING })).status).toBe(sessions === "auto" ? 200 : 400);
    });
  }
});

describe("the routing cookie", () => {
  test("comes with initialize where it is wanted, and nowhere else [AP-094]", async () => {
    for (const cookie of [true, false]) {
      await using rig = await clusterRig({ config: { cookie } });
      const params = { protocolVersion: "2025-11-25", capabilities: {} };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
      const answer = await rig.a.send({ body });
      const line = answer.headers["set-cookie"]?.[0];
      if (cookie) expect(line).toMatch(/^gw_route=[\w-]{22}; Path=\/mcp; HttpOnly; Secure; SameSite=Lax$/);
      else expect(line).toBeUndefined();
      const headers = { "mcp-session-id": String(answer.headers["mcp-session-id"]), cookie: "gw_route=forged" };
      const next = await rig.b.send({ headers, body: PING });
      expect([next.status, next.headers["set-cookie"]]).toEqual([200, undefined]);
    }
  });
});
