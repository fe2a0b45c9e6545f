import { describe, expect, test } from "vitest";
import { clusterRig } from "../../../../tests/kit/cluster-rig.ts";
import { mcpRig, until } from "../../../../tests/kit/mcp-rig.ts";
import { who } from "../../../../tests/kit/policy-rig.ts";
import { LiveSink } from "../../../mechanisms/audit/index.ts";
import { MGP_EXTENSIONS, type MgpExtension } from "../../../wire/mgp/index.ts";

const PEOPLE = {
  ann: who("ann"),
  bob: who("bob"),
  acme: who("eve", { tenant: "acme" }),
  auditor: who("sam", { scopes: ["audit:read"] }),
  viewer: who("vic", { role: "viewer" }),
};
type Person = keyof typeof PEOPLE;

const event = (actor: string, details: object = {}) =>
  JSON.stringify({
    timestamp: "2026-05-02T08:16:01.250Z",
    trace_id: "0d6f8f0e-6f0b-4b57-9b2c-6a5d8c1b7e11",
    event_type: "TOOL_EXECUTED",
    actor: { type: "agent", id: actor },
    target: { server_id: "files", tool_name: "schön" },
    result: "SUCCESS",
    details: { id: "1", tenant: "default", ...details },
  });

async function start(offered: readonly MgpExtension[] = MGP_EXTENSIONS) {
  const trail = new LiveSink();
  const rig = await mcpRig({
    principal: ({ headers }) => PEOPLE[headers.person as Person],
    mgp: { offered: () => offered, operations: async () => [], trail },
  });
  const listen = async (person: Person, extensions: readonly string[] = ["audit"]) => {
    const mgp = { version: "0.3.0", extensions };
    const params = { protocolVersion: "2025-11-25", capabilities: { mgp }, clientInfo: { name: "t", version: "1" } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    const { headers } = await rig.send({ body, headers: { person } });
    const session = { person, "mcp-session-id": String(headers["mcp-session-id"]) };
    return { session, stream: await rig.open({ method: "GET", headers: session }) };
  };
  return { ...rig, trail, listen };
}

describe("sessions that agreed on audit", () => {
  test("[MG-025][MG-127] hear what their agent did, in the words of the trail, and those who may read it of all", async () => {
    await using rig = await start();
    const people = ["ann", "bob", "acme", "auditor", "viewer"] as const;
    const open = await Promise.all(people.map(async (person) => (await rig.listen(person)).stream));
    rig.trail.take([event("ann"), event("eve", { tenant: "acme" }), event("bob")].join("\n"));
    await until(() => open.every(({ events }) => events.some(({ data }) => data !== "")));
    await until(() => [3, 4].every((index) => (open[index]?.events.filter(({ data }) => data !== "").length ?? 0) > 1));
    const heard = open.map(({ events }) =>
      events
        .filter(({ data }) => data !== "")
        .map(({ data }) => (JSON.parse(data) as { params: { actor: { id: string } } }).params.actor.id),
    );
    expect(heard).toEqual([["ann"], ["bob"], ["eve"], ["ann", "bob"], ["ann", "bob"]]);
    const [first] = open[0]?.events.filter(({ data }) => data !== "") ?? [];
    expect(JSON.parse(Buffer.from(first?.data ?? "", "latin1").toString())).toEqual({
      jsonrpc: "2.0",
      method: "notifications/mgp.audit",
      params: JSON.parse(event("ann")),
    });
  });

  test("do not hear what was concealed from their agent", async () => {
    await using rig = await start();
    const { stream } = await rig.listen("ann");
    const hidden = [event("ann", { concealed: true }), event("ann", { code: "NO_SUCH_TARGET" })];
    rig.trail.take([...hidden, event("ann", { id: "last" })].join("\n"));
    expect(await stream.message(0)).toMatchObject({ params: { details: { id: "last" } } });
  });

  test("hear while they listen: nothing is kept for a client without a stream, and what is no event is passed over", async () => {
    await using rig = await start();
    const { session, stream } = await rig.listen("ann");
    stream.close();
    const open = () => rig.sessions.find(session["mcp-session-id"], PEOPLE.ann)?.outbox?.isOpen;
    await until(() => open() === false);
    rig.trail.take(event("ann", { id: "missed" }));
    const again = await rig.open({ method: "GET", headers: session });
    await until(() => open() === true);
    rig.trail.take(["no event", "{}", event("ann", { id: "heard" })].join("\n"));
    expect(await again.message(0)).toMatchObject({ params: { details: { id: "heard" } } });
  });

  test("are not more of one caller than a few: the newest hear, and who hears no more is told", async () => {
    await using rig = await start();
    const { stream: other } = await rig.listen("bob");
    const first = await rig.listen("ann");
    for (let more = 0; more < 32; more++) await rig.listen("ann");
    const { stream: last } = await rig.listen("ann");
    rig.trail.take([event("ann"), event("bob")].join("\n"));
    expect(await last.message(0)).toMatchObject({ params: { actor: { id: "ann" } } });
    expect(await other.message(0)).toMatchObject({ params: { actor: { id: "bob" } } });
    await first.stream.ended();
    const told = first.stream.events.filter(({ data }) => data !== "");
    expect(told.map(({ data }) => JSON.parse(data))).toMatchObject([
      { method: "notifications/message", params: { level: "warning", logger: "isthmus" } },
    ]);
    expect(told[0]?.data).toContain("hears of the audit trail no more");
  });

  test("are not listened for when they were ended before they were open", async () => {
    await using rig = await start();
    const gate = Promise.withResolvers<void>();
    rig.catalog.gate = gate.promise;
    const listening = rig.listen("ann");
    await until(() => rig.sessions.size === 1);
    rig.sessions.endWhere(() => true, "revoked");
    gate.resolve();
    await listening;
    expect(rig.trail.isWanted).toBe(false);
  });

  test("are listened for only as long as there is one", async () => {
    await using rig = await start();
    expect(rig.trail.isWanted).toBe(false);
    await rig.listen("bob", ["access_control"]);
    expect(rig.trail.isWanted).toBe(false);
    const { session } = await rig.listen("ann");
    const { session: second } = await rig.listen("ann");
    expect(rig.trail.isWanted).toBe(true);
    await rig.send({ method: "DELETE", headers: session });
    expect(rig.trail.isWanted).toBe(true);
    await rig.send({ method: "DELETE", headers: second });
    expect(rig.trail.isWanted).toBe(false);
  });

  test("go on hearing where another process has taken them over", async () => {
    const trail = new LiveSink();
    const mgp = { offered: () => MGP_EXTENSIONS, operations: async () => [], trail };
    await using rig = await clusterRig({ mgp });
    const headers = await rig.a.initialize("2025-11-25", { mgp: { version: "0.3.0", extensions: ["audit"] } });
    await rig.a.kill();
    const stream = await rig.b.open({ method: "GET", headers });
    trail.take(event("local"));
    expect(await stream.message(0)).toMatchObject({ method: "notifications/mgp.audit" });
  });

  test("are not made where calls are not on record", async () => {
    await using rig = await start(["access_control"]);
    await rig.listen("ann");
    expect(rig.trail.isWanted).toBe(false);
  });
});
