/** Who may say yes, where callers are known by their tokens. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../hostile/kit/observe.ts";
import { type GateObject, gateOf, ValveRig } from "./valve-rig.ts";

const AUTH = '[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n';

const TOKENS = {
  agent: "--user ada --client agent",
  twin: "--user ada --client second --role operator",
  other: "--user eve --client agent",
  operator: "--user bob --role operator",
  viewer: "--user carl --role viewer",
  stranger: "--user mallory --role admin --tenant acme",
};

let rig: ValveRig;
let number = 0;

beforeAll(async () => {
  rig = await ValveRig.start({ gate: 'hold = "50ms"\nevidence = "operator"', more: AUTH, tokens: TOKENS });
}, 60_000);
afterAll(() => rig[Symbol.asyncDispose]());

async function decide(gate: GateObject, who: string, decision = "approve"): Promise<number> {
  const url = new URL(`/api/approvals/${gate.confirmation_id}/${decision}`, rig.url);
  const headers = { "content-type": "application/json", ...rig.as(who).headers };
  return (await fetch(url, { method: "POST", headers, body: "{}" })).status;
}

const ask = async (who = "agent") => gateOf(await rig.call("plant.open", { number: ++number }, rig.as(who)));

describe("an approval that needs an operator", () => {
  test.each([
    ["the caller", "agent", 403],
    ["the same user with another token, though an operator", "twin", 403],
    ["another caller", "other", 403],
    ["somebody who may only look", "viewer", 403],
    ["an admin of another tenant, who learns nothing", "stranger", 404],
  ])("is not given by %s", async (_who, who, status) => {
    const gate = await ask();
    const before = rig.made().length;
    expect(await decide(gate, who)).toBe(status);
    expect((await rig.call("plant.open", { number }, rig.as("agent"))).result).toMatchObject({ isError: true });
    expect(rig.made()).toHaveLength(before);
  });

  test("is given by an operator, for this caller alone", async () => {
    const gate = await ask();
    const before = rig.made().length;
    expect(await decide(gate, "operator")).toBe(200);
    expect(gateOf(await rig.call("plant.open", { number }, rig.as("other"))).confirmation_id).not.toBe(
      gate.confirmation_id,
    );
    expect(gateOf(await rig.call("plant.open", { number }, rig.as("twin"))).confirmation_id).not.toBe(
      gate.confirmation_id,
    );
    expect(rig.made()).toHaveLength(before);
    const { result } = await rig.call("plant.open", { number }, rig.as("agent"));
    expect(result).toMatchObject({ content: [{ text: "did open" }] });
  });

  test("is shown to operators of its tenant, and to nobody else", async () => {
    const { confirmation_id } = await ask();
    const list = async (who: string) => {
      const response = await fetch(new URL("/api/approvals?state=waiting", rig.url), rig.as(who));
      return { status: response.status, text: await response.text() };
    };
    expect(await list("operator")).toMatchObject({ status: 200, text: expect.stringContaining(confirmation_id) });
    expect((await list("stranger")).text).not.toContain(confirmation_id);
    expect((await list("viewer")).status).toBe(403);
    expect((await list("agent")).status).toBe(403);
  });

  test("cannot be confirmed by somebody unknown, whatever the proof", async () => {
    const gate = await ask();
    const params = { confirmation_id: gate.confirmation_id, decision: "approve", proof: rig.proof(gate) };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "mcpax/confirm", params });
    const url = new URL("/mcpax/confirm", rig.url);
    const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    expect(response.status).toBe(401);
  });

  test("can be relayed by the caller, but not signed in its name", async () => {
    const gate = await ask();
    const confirm = (claims: object) =>
      rig.rpc(
        {
          id: 1,
          method: "mcpax/confirm",
          params: {
            confirmation_id: gate.confirmation_id,
            decision: "approve",
            proof: rig.proof(gate, "approve", { claims }),
          },
        },
        rig.as("agent"),
      );
    expect(await confirm({ sub: "ada" })).toMatchObject({ error: { data: { reason: "own_principal" } } });
    expect(await confirm({ sub: "operator:ada" })).toMatchObject({ error: { data: { reason: "own_principal" } } });
    expect(await confirm({ sub: "operator:bob" })).toMatchObject({ result: { status: "approved" } });
  });

  test("leaves who tried on the audit trail", async () => {
    const gate = await ask();
    await decide(gate, "twin");
    const read = async () => {
      const url = new URL("/api/audit?event_type=dev.isthmus.approval.refused&limit=1000", rig.url);
      return (await (await fetch(url, rig.as("operator"))).text()) as string;
    };
    await eventually(read, (text) => text.includes(gate.confirmation_id) && text.includes("own_principal"));
  });
});
