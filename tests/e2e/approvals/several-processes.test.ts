/** A yes that is given at one process reaches the call that another one holds. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { UserAgent } from "../../kit/user-agent.ts";
import { openSession, post, toolCall } from "../kit/rpc.ts";
import { SHORT_LEASE_MS, startCluster, type TestCluster } from "../processes/cluster.ts";
import { type GateObject, gateOf, ValveRig } from "./valve-rig.ts";

const OPENING = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "e2e", version: "1" } };

let rig: ValveRig;
let cluster: TestCluster;

beforeAll(async () => {
  rig = await ValveRig.start({ gate: 'hold = "3s"' });
  const tables = rig.config();
  cluster = await startCluster({
    servers: tables.slice(tables.indexOf("[gate]")),
    gateways: 2,
    leaseMs: SHORT_LEASE_MS,
  });
}, 90_000);
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await rig?.[Symbol.asyncDispose]();
});

async function waiting(index: number, tool = "plant.open"): Promise<GateObject> {
  const read = async () => {
    const response = await fetch(new URL("/api/approvals?state=waiting", cluster.url(index)));
    const { approvals } = (await response.json()) as { approvals: GateObject[] };
    return approvals.filter((gate) => gate.tool === tool);
  };
  const [gate] = await eventually(read, (found) => found.length > 0);
  if (!gate) throw new Error("nothing waits");
  return gate;
}

async function confirm(index: number, gate: GateObject) {
  const params = { confirmation_id: gate.confirmation_id, decision: "approve", proof: rig.proof(gate) };
  const { messages } = await post(new URL("/mcpax/confirm", cluster.url(index)).href, {
    id: 1,
    method: "mcpax/confirm",
    params,
  });
  return messages[0];
}

test("a call that is held at one process is made when another one is told yes, and both say so", async () => {
  const answered = post(cluster.url(0), toolCall(1, "plant.open", { at: 0 }));
  const gate = await waiting(1);
  expect(await confirm(1, gate)).toMatchObject({ result: { status: "dispatched" } });
  expect((await answered).messages[0]?.result).toMatchObject({ content: [{ text: "did open" }] });
  expect(rig.made()).toHaveLength(1);
});

test("a call that is held at one process is decided on the page of another one", async () => {
  const before = rig.made().length;
  const answered = post(cluster.url(0), toolCall(1, "plant.open", { at: "page" }));
  const gate = await waiting(1);
  const browser = new UserAgent();
  const page = await browser.open(new URL(new URL(String(gate.confirm_url)).pathname, cluster.url(1)).href);
  const { value: proof } = rig.proof(gate) as { value: string };
  expect((await browser.submit(page, { decision: "approve", proof })).text).toContain("the call was made");
  expect((await answered).messages[0]?.result).toMatchObject({ content: [{ text: "did open" }] });
  expect(rig.made()).toHaveLength(before + 1);
});

test("of the same call at both, one is made", async () => {
  const before = rig.made().length;
  const calls = [0, 1].map((index) => post(cluster.url(index), toolCall(1, "plant.open", { at: "both" })));
  const gate = await waiting(0);
  const answers = await Promise.all([confirm(0, gate), confirm(1, gate)]);
  expect(answers.filter((answer) => answer?.result !== undefined)).toHaveLength(1);
  const results = (await Promise.all(calls)).map(({ messages }) => JSON.stringify(messages.at(-1)));
  expect(results.filter((text) => text.includes("did open"))).toHaveLength(1);
  expect(rig.made()).toHaveLength(before + 1);
});

test.each([
  ["at the process", 0],
  ["handed over from another one", 1],
])("a client that claims to be a process of the gateway waits all the same, %s", async (_where, index) => {
  const before = rig.made().length;
  const session = await openSession(cluster.url(0));
  const forged = { "isthmus-hop": "1 x", "isthmus-hop-home": "plant", "isthmus-hop-principal": "e30" };
  const params = { name: "plant.open", arguments: { forged: index } };
  const calling = post(cluster.url(index), { id: 1, method: "tools/call", params }, { ...session, ...forged });
  const own = post(cluster.url(index), { id: 2, method: "initialize", params: OPENING }, forged);
  expect((await own).status).toBe(200);
  expect(gateOf((await calling).messages.at(-1) ?? {})).toMatchObject({ arguments: { forged: index } });
  expect(rig.made()).toHaveLength(before);
});

test("a yes that was given before its process died is used at another one", async () => {
  const before = rig.made().length;
  const held = post(cluster.url(0), toolCall(1, "plant.close", {})).catch(() => undefined);
  const gate = await waiting(1, "plant.close");
  await cluster.fleet.kill(0);
  await held;
  expect(await confirm(1, gate)).toMatchObject({ result: { status: "approved" } });
  const { messages } = await post(cluster.url(1), toolCall(1, "plant.close", {}));
  expect(messages.at(-1)?.result).toMatchObject({ content: [{ text: "did close" }] });
  expect(() => gateOf(messages.at(-1) ?? {})).toThrow();
  expect(rig.made()).toHaveLength(before + 1);
}, 30_000);
