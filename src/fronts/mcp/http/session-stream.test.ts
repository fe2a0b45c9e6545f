import { describe, expect, test } from "vitest";
import { FakeView, okProvider } from "../../../../tests/kit/fake-catalog.ts";
import { endWith, mcpRig } from "../../../../tests/kit/mcp-rig.ts";
import { payload } from "../../../contract/index.ts";

const updated = (uri: string) => ({
  from: "files",
  to: { resource: uri },
  method: "notifications/resources/updated",
  payload: payload(JSON.stringify({ uri })),
});
const VIEW = new FakeView(
  1,
  [okProvider("files")],
  [
    { kind: "resource", name: "doc://a" },
    { kind: "resource", name: "files+doc://b", own: "doc://b" },
  ],
);
const subscribe = (uri: string) =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri } });

describe("a session's own stream", () => {
  test("brings what came before it was opened, under ids to come back with", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    const to = { session: headers["mcp-session-id"] as string };
    rig.sessions.notice({ from: "files", to, method: "x/one", payload: payload("{}") });
    const stream = await rig.open({ method: "GET", headers });
    expect(await stream.message(0)).toEqual({ jsonrpc: "2.0", method: "x/one", params: {} });
    rig.sessions.notice({ from: "files", to, method: "x/two", payload: payload("{}") });
    expect(await stream.message(1)).toMatchObject({ method: "x/two" });
    expect(stream.events.map((event) => event.id)).toEqual(["out.0", "out.1", "out.2"]);
    stream.close();
    const again = await rig.open({ method: "GET", headers: { ...headers, "last-event-id": "out.1" } });
    expect(await again.message(0)).toMatchObject({ method: "x/two" });
  });

  test("takes the place of a former one, which ends", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    const former = await rig.open({ method: "GET", headers });
    const later = await rig.open({ method: "GET", headers });
    await former.ended();
    rig.sessions.notice({ from: "x", to: { principal: "local" }, method: "x/one", payload: payload("{}") });
    expect(await later.message(0)).toMatchObject({ method: "x/one" });
  });

  test("tells about lists once, and only when what this client sees has changed", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    await rig.send({ headers, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' });
    const notice = { from: "files", to: { catalog: ["tool"] }, method: "", payload: payload("") } as const;
    const stream = await rig.open({ method: "GET", headers });
    rig.sessions.notice(notice);
    rig.catalog.current = new FakeView(2, [okProvider("files")], [{ kind: "tool", name: "new" }]);
    rig.sessions.notice(notice);
    rig.sessions.notice(notice);
    rig.sessions.notice({ from: "x", to: { principal: "local" }, method: "x/last", payload: payload("{}") });
    expect(await stream.message(0)).toEqual({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    expect(await stream.message(1)).toMatchObject({ method: "x/last" });
  });

  test("brings updates of subscribed resources and their parts, by the client's names", async () => {
    await using rig = await mcpRig({ view: VIEW });
    const headers = await rig.initialize();
    rig.runs.onStart = (run) => run.write(endWith({}));
    await rig.send({ headers, body: subscribe("doc://a") });
    await rig.send({ headers, body: subscribe("files+doc://b") });
    expect(rig.runs.last.order.input.text).toBe('{"uri":"doc://b"}');
    for (const uri of ["doc://other", "doc://ab", "doc://a", "doc://b/part/2", "doc://a"])
      rig.sessions.notice(updated(uri));
    const stream = await rig.open({ method: "GET", headers });
    expect(await stream.message(0)).toMatchObject({ params: { uri: "files+doc://b/part/2" } });
    expect(await stream.message(1)).toMatchObject({ params: { uri: "doc://a" } });
  });

  test("brings no updates after an unsubscribe or a failed subscribe", async () => {
    await using rig = await mcpRig({ view: VIEW });
    const headers = await rig.initialize();
    rig.runs.onStart = (run) => run.write(endWith({}));
    await rig.send({ headers, body: subscribe("doc://a") });
    await rig.send({ headers, body: subscribe("doc://a").replace("subscribe", "unsubscribe") });
    rig.runs.onStart = (run) =>
      run.write({ type: "end", outcome: "fault", payload: payload('{"code":1,"message":""}') });
    await rig.send({ headers, body: subscribe("files+doc://b") });
    rig.sessions.notice(updated("doc://a"));
    rig.sessions.notice(updated("doc://b"));
    rig.sessions.notice({ from: "x", to: { principal: "local" }, method: "x/last", payload: payload("{}") });
    const stream = await rig.open({ method: "GET", headers });
    expect(await stream.message(0)).toMatchObject({ method: "x/last" });
  });

  test("an unsubscribe of what the session has no subscription of is answered without its server", async () => {
    await using rig = await mcpRig({ view: VIEW });
    const [headers, other] = [await rig.initialize(), await rig.initialize()];
    rig.runs.onStart = (run) => run.write(endWith({}));
    const unsubscribe = async (from: typeof headers) =>
      (await rig.send({ headers: from, body: subscribe("doc://a").replace("subscribe", "unsubscribe") })).text;
    await rig.send({ headers: other, body: subscribe("doc://a") });
    const { last } = rig.runs;
    expect(await unsubscribe(headers)).toContain('"result":{}');
    expect(rig.runs.last).toBe(last);
    await unsubscribe(other);
    const given = rig.runs.last;
    expect(given).not.toBe(last);
    expect(await unsubscribe(other)).toContain('"result":{}');
    expect(rig.runs.last).toBe(given);
  });

  test("carries questions asked outside any call", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-11-25", { roots: {} });
    const session = rig.sessions.find(headers["mcp-session-id"] as string, { id: "local" });
    const ask = { key: "k", kind: "roots", method: "roots/list", input: payload("{}") } as const;
    const asking = rig.sessions.ask(session as never, ask, new AbortController().signal);
    const stream = await rig.open({ method: "GET", headers });
    expect(await stream.message(0)).toMatchObject({ id: 1, method: "roots/list" });
    await rig.send({ headers, body: '{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}' });
    expect(await asking).toMatchObject({ key: "k", outcome: "result", payload: { text: '{"roots":[]}' } });
  });

  test("ends with its session", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    const stream = await rig.open({ method: "GET", headers });
    await rig.send({ method: "DELETE", headers });
    await stream.ended();
  });
});
