/** Who may say yes, where callers are known by their tokens. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TrailWatch } from "../../kit/attack-trace.ts";
import { type GateObject, gateOf, ValveRig } from "./valve-rig.ts";

const AUTH = '[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n';

const TOKENS = {
  agent: "--user ada --client agent",
  twin: "--user ada --client second --role operator",
  other: "--user eve --client agent",
  operator: "--user bob --role operator",
  viewer: "--user carl --role viewer",
  overseer: "--user olga --role admin",
  second: "--user olga --client second",
  founder: "--user fred --role admin",
  stranger: "--user mallory --role admin --tenant acme",
};

let rig: ValveRig;
let number = 0;

beforeAll(async () => {
  rig = await ValveRig.start({ gate: 'hold = "50ms"\nevidence = "operator"', more: AUTH, tokens: TOKENS });
}, 60_000);
afterAll(() => rig[Symbol.asyncDispose]());

const trail = new TrailWatch({
  origin: () => rig.url,
  headers: () => rig.as("overseer").headers,
  secrets: () => Object.values(rig.tokens),
});

async function decide(gate: GateObject, who: string, decision = "approve"): Promise<number> {
  const url = new URL(`/api/approvals/${gate.confirmation_id}/${decision}`, rig.url);
  const headers = { "content-type": "application/json", ...rig.as(who).headers };
  return (await fetch(url, { method: "POST", headers, body: "{}" })).status;
}

const ask = async (who = "agent") => gateOf(await rig.call("plant.open", { number: ++number }, rig.as(who)));

describe("an approval that needs an operator", () => {
  const refused = "dev.isthmus.approval.refused";
  const turnedAway = "dev.isthmus.request_refused";

  test.each([
    ["the caller", "agent", 403, turnedAway, "role"],
    ["the same user with another token, though an operator", "twin", 403, refused, "own_principal"],
    ["another caller", "other", 403, turnedAway, "role"],
    ["somebody who may only look", "viewer", 403, turnedAway, "role"],
    ["an admin of another tenant, who learns nothing", "stranger", 404, refused, "unknown"],
  ])("is not given by %s", async (_who, who, status, type, why) => {
    const gate = await ask();
    const before = rig.made().length;
    expect(await trail.attack(() => decide(gate, who), { type, why })).toBe(status);
    expect((await rig.call("plant.open", { number }, rig.as("agent"))).result).toMatchObject({ isError: true });
    expect(rig.made()).toHaveLength(before);
  });

  test("is not given with a token that the caller made or rotated, itself or through another that it made", async () => {
    const made = async (path: string, body: object, token = rig.tokens.overseer) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const answer = await fetch(new URL(path, rig.url), { method: "POST", headers, body: JSON.stringify(body) });
      return (await answer.json()) as { id: string; token: string };
    };
    const approve = async ({ confirmation_id }: GateObject, token: string) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const url = new URL(`/api/approvals/${confirmation_id}/approve`, rig.url);
      const answer = await fetch(url, { method: "POST", headers, body: "{}" });
      return [answer.status, ((await answer.json()) as { detail?: string }).detail];
    };
    const puppet = await made("/api/tokens", { user: "puppet", role: "admin" });
    const chained = await made("/api/tokens", { user: "next", role: "operator" }, puppet.token);
    const { id } = await made("/api/tokens", { user: "dora", role: "operator" }, rig.tokens.founder);
    const rotated = await made(`/api/tokens/${id}/rotate`, {});
    for (const who of ["overseer", "second"]) {
      for (const { token } of [puppet, chained, rotated]) {
        const gate = await ask(who);
        expect(await approve(gate, token)).toEqual([403, "confirmation_proof_invalid: made_by_requester"]);
        expect(await decide(gate, "operator", "deny")).toBe(200);
      }
    }
    expect((await approve(await ask(), puppet.token))[0]).toBe(200);
    expect(await decide(await ask("overseer"), "operator")).toBe(200);
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
    const headers = { "content-type": "application/json" };
    const trace = { type: "dev.isthmus.authentication_failed", why: "missing", details: { path: "/mcpax/confirm" } };
    const response = await trail.attack(() => fetch(url, { method: "POST", headers, body }), trace, [
      params.proof.value,
    ]);
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
    for (const sub of ["ada", "operator:ada"]) {
      const answer = await trail.attack(() => confirm({ sub }), { type: refused, why: "own_principal" });
      expect(answer).toMatchObject({ error: { data: { reason: "own_principal" } } });
    }
    expect(await confirm({ sub: "operator:bob" })).toMatchObject({ result: { status: "approved" } });
  });
});
