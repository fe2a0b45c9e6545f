/** What ASP asks of the MCP stack (its section 1.4), seen from outside. */
import { describe, expect, test } from "vitest";
import { FakeView, okProvider } from "../../../../tests/kit/fake-catalog.ts";
import { call, endWith, mcpRig } from "../../../../tests/kit/mcp-rig.ts";
import { payload } from "../../../contract/index.ts";

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const opening = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
});

describe("the MCP endpoint", () => {
  test("takes one message per POST and refuses an array [AP-155]", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    expect((await rig.send({ headers, body: PING })).json()).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect((await rig.send({ headers, body: `[${PING}]` })).status).toBe(400);
  });

  test("opens the stream of what the server says by itself on GET [AP-156]", async () => {
    await using rig = await mcpRig();
    const stream = await rig.open({ method: "GET", headers: await rig.initialize() });
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    rig.sessions.notice({ from: "x", to: { principal: "local" }, method: "x/one", payload: payload("{}") });
    expect(await stream.message(0)).toMatchObject({ method: "x/one" });
  });

  test("refuses a later request in a version that nobody speaks [AP-160]", async () => {
    await using rig = await mcpRig();
    const headers = { ...(await rig.initialize()), "mcp-protocol-version": "1999-01-01" };
    expect((await rig.send({ headers, body: PING })).status).toBe(400);
  });

  test("serves a session after initialize and initialized, and knows none before [AP-159]", async () => {
    await using rig = await mcpRig();
    const early = await rig.send({ headers: { "mcp-session-id": "not-yet" }, body: PING });
    expect(early.status).toBe(404);
    const opened = await rig.send({ body: opening });
    expect(JSON.parse(opened.text)).toMatchObject({
      id: 0,
      result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "isthmus" } },
    });
    const session = {
      "mcp-session-id": String(opened.headers["mcp-session-id"]),
      "mcp-protocol-version": "2025-11-25",
    };
    const initialized = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    const accepted = await rig.send({ headers: session, body: initialized });
    expect([accepted.status, accepted.text]).toEqual([202, ""]);
    rig.runs.onStart = (run) => run.write(endWith({ ok: true }));
    expect((await rig.send({ headers: session, body: call(1) })).json()).toMatchObject({ id: 1, result: { ok: true } });
    expect(rig.runs.last.call.session).toMatchObject({ id: session["mcp-session-id"], protocol: "2025-11-25" });
  });

  test("names the session in the answer to initialize [AP-161]", async () => {
    await using rig = await mcpRig();
    const answer = await rig.send({ body: opening });
    expect(answer.headers["mcp-session-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("declares what its servers have [AP-163] [AP-164] [AP-165] [AP-166] [AP-167]", async () => {
    const one = okProvider("one", '{"tools":{},"resources":{},"logging":{}}');
    const two = okProvider("two", '{"prompts":{},"completions":{}}');
    await using rig = await mcpRig({ view: new FakeView(1, [one, two], []) });
    const { result } = JSON.parse((await rig.send({ body: opening })).text);
    expect(Object.keys(result.capabilities).sort()).toEqual([
      "completions",
      "logging",
      "prompts",
      "resources",
      "tools",
    ]);
  });

  test("gives a call's events ids, and the rest to a client that comes back with one [AP-170] [AP-171]", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    rig.runs.onStart = (run) => run.write({ type: "log", payload: payload('{"level":"info","data":1}') });
    const stream = await rig.open({ headers, body: call(1) });
    await stream.message(0);
    const id = stream.events.at(-1)?.id ?? "";
    stream.close();
    rig.runs.last.write(endWith({ ok: true }));
    const again = await rig.open({ method: "GET", headers: { ...headers, "last-event-id": id } });
    expect(await again.message(0)).toMatchObject({ id: 1, result: { ok: true } });
    await again.ended();
    expect(again.events.filter((event) => event.data !== "")).toHaveLength(1);
  });

  test("refuses a foreign origin with a JSON-RPC error and lets none pass [AP-178] [AP-179] [AP-180] [AP-181]", async () => {
    await using rig = await mcpRig();
    const refused = await rig.send({ headers: { origin: "http://evil.example" }, body: opening });
    expect(refused.status).toBe(403);
    expect(refused.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: {} });
    expect((await rig.send({ body: opening })).status).toBe(200);
  });
});
