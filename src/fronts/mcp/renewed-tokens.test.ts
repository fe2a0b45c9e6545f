/** One caller with one token after the other: what holds for it is what it proved last. */
import { describe, expect, test } from "vitest";
import { FakeView, okProvider } from "../../../tests/kit/fake-catalog.ts";
import { call, endWith, mcpRig, until } from "../../../tests/kit/mcp-rig.ts";
import { modern } from "../../../tests/kit/modern-client.ts";
import { who } from "../../../tests/kit/policy-rig.ts";
import { identityOf, type Principal } from "../../contract/index.ts";
import { LiveSink } from "../../mechanisms/audit/index.ts";
import { MGP_EXTENSIONS } from "../../wire/mgp/index.ts";

const TOKENS: Readonly<Record<string, Principal>> = {
  first: who("ann", { proof: "oidc", tokenHash: "1", role: "viewer" }),
  second: who("ann", { proof: "oidc", tokenHash: "2" }),
};
const FIRST = { token: "first" };
const SECOND = { token: "second" };
const PING = '{"jsonrpc":"2.0","id":9,"method":"ping"}';
const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}';
const RESOURCE = { kind: "resource", name: "a:1" } as const;
const TOOL = { kind: "tool", name: "files.echo", own: "echo" } as const;

async function start() {
  const trail = new LiveSink();
  const rig = await mcpRig({
    view: new FakeView(1, [okProvider("one", '{"tools":{},"resources":{"subscribe":true}}')], [RESOURCE, TOOL]),
    principal: ({ headers }) => TOKENS[headers.token ?? ""] as Principal,
    mgp: { offered: () => MGP_EXTENSIONS, operations: async () => [], trail },
  });
  rig.runs.onStart = (run) => run.write(endWith({}));
  const initialize = async (headers: Record<string, string>) => {
    const capabilities = { mgp: { version: "0.3.0", extensions: ["audit"] } };
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "t", version: "1" } };
    const answer = await rig.send({
      body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
      headers,
    });
    return { "mcp-session-id": String(answer.headers["mcp-session-id"]) };
  };
  const sse = async (headers: Record<string, string>) => {
    const stream = await rig.open({ method: "GET", path: "/sse", headers });
    await stream.until(() => stream.events.length === 1);
    return { stream, path: stream.events[0]?.data as string };
  };
  const listen = (headers: Record<string, string>, notifications: object = { toolsListChanged: true }) =>
    rig.open(modern("subscriptions/listen", { notifications }, { headers }));
  /** As the gateway does when this token is revoked. */
  const revoke = (hash: string): void => {
    const isMeant = (principal: Principal) => identityOf(principal).tokenHash === hash;
    rig.sessions.endWhere(({ principal }) => isMeant(principal), "revoked");
    rig.front.drop(isMeant);
  };
  return { ...rig, trail, initialize, sse, listen, revoke };
}

describe("a session whose client has a new token", () => {
  test("ends when that one is revoked, and its stream with it", async () => {
    await using rig = await start();
    const session = await rig.initialize(FIRST);
    const stream = await rig.open({ method: "GET", headers: { ...session, ...SECOND } });
    rig.revoke("1");
    expect([stream.isEnded, rig.sessions.size]).toEqual([false, 1]);
    rig.revoke("2");
    await stream.ended();
    expect(rig.sessions.size).toBe(0);
  });

  test("hears of the trail what the new one may", async () => {
    await using rig = await start();
    const session = await rig.initialize(FIRST);
    const stream = await rig.open({ method: "GET", headers: { ...session, ...SECOND } });
    const event = (id: string, actor: string) => ({
      timestamp: "2026-05-02T08:16:01.250Z",
      trace_id: "0d6f8f0e-6f0b-4b57-9b2c-6a5d8c1b7e11",
      event_type: "TOOL_EXECUTED",
      target: { server_id: "one", tool_name: "echo" },
      result: "SUCCESS",
      actor: { type: "agent", id: actor },
      details: { id, tenant: "default" },
    });
    const lines = [event("others", "bob"), event("own", "ann")].map((one) => JSON.stringify(one));
    rig.trail.take(lines.join("\n"));
    expect(await stream.message(0)).toMatchObject({ params: { details: { id: "own" } } });
  });
});

describe("a client of 2026-07-28 with a new token", () => {
  test("subscribes as who it is now", async () => {
    await using rig = await start();
    await rig.send(modern("tools/list", {}, { headers: FIRST }));
    const stream = await rig.listen(SECOND, { resourceSubscriptions: ["a:1"] });
    await stream.message(0);
    expect(rig.runs.last.call).toMatchObject({ method: "resources/subscribe", principal: TOKENS.second });
    stream.close();
  });

  test("listens no more with the one that is revoked, whoever else has used the same profile since", async () => {
    await using rig = await start();
    const [stolen, own] = [await rig.listen(FIRST), await rig.listen(SECOND)];
    for (const stream of [stolen, own]) await stream.message(0);
    rig.revoke("1");
    await stolen.ended();
    expect([own.isEnded, rig.sessions.size]).toEqual([false, 1]);
    own.close();
  });
});

describe("a stream of 2024", () => {
  test("carries calls of whoever posts them, as proved with each", async () => {
    await using rig = await start();
    const { path, stream } = await rig.sse(FIRST);
    // The second one comes while the session is being opened.
    await Promise.all([
      rig.send({ path, body: INITIALIZE, headers: FIRST }),
      rig.send({ path, body: call(1), headers: SECOND }),
    ]);
    await stream.until(() => stream.events.length === 3);
    expect(rig.runs.last.call).toMatchObject({ principal: TOKENS.second, session: { principal: TOKENS.second } });
    rig.revoke("1");
    expect(rig.sessions.size).toBe(1);
    stream.close();
  });

  test("ends with its session, and takes no messages any more", async () => {
    await using rig = await start();
    const { path, stream } = await rig.sse(FIRST);
    for (const body of [INITIALIZE, call(1)]) await rig.send({ path, body, headers: FIRST });
    await stream.until(() => stream.events.length === 3);
    rig.sessions.endWhere(() => true, "revoked");
    await stream.ended();
    expect((await rig.send({ path, body: PING, headers: FIRST })).status).toBe(404);
    expect(rig.runs.started.length).toBe(1);
  });

  test("ends with the first message after its session was ended before any", async () => {
    await using rig = await start();
    const { path, stream } = await rig.sse(FIRST);
    await rig.send({ path, body: INITIALIZE, headers: FIRST });
    await stream.until(() => stream.events.length === 2);
    rig.sessions.endWhere(() => true, "its catalog is gone");
    await rig.send({ path, body: call(1), headers: FIRST });
    await stream.ended();
    expect(rig.runs.started.length).toBe(0);
  });

  test("ends when its bearer is revoked while the session is being opened", async () => {
    await using rig = await start();
    const { path, stream } = await rig.sse(FIRST);
    const gate = Promise.withResolvers<void>();
    rig.catalog.gate = gate.promise;
    await rig.send({ path, body: INITIALIZE, headers: FIRST });
    rig.sessions.endWhere(() => true, "revoked");
    gate.resolve();
    await stream.ended();
    expect(rig.sessions.size).toBe(0);
  });

  test("ends when its bearer is revoked though no session was opened on it", async () => {
    await using rig = await start();
    const [{ stream: stolen, path }, { stream: own }] = [await rig.sse(FIRST), await rig.sse(SECOND)];
    rig.revoke("1");
    await stolen.ended();
    expect((await rig.send({ path, body: INITIALIZE, headers: SECOND })).status).toBe(404);
    expect(own.isEnded).toBe(false);
    own.close();
  });

  test("goes on when its client initializes again", async () => {
    await using rig = await start();
    const { path, stream } = await rig.sse(FIRST);
    for (const body of [INITIALIZE, call(1), INITIALIZE, call(2)]) await rig.send({ path, body, headers: FIRST });
    await stream.until(() => stream.events.length === 5);
    await until(() => rig.sessions.size === 1);
    stream.close();
  });
});
