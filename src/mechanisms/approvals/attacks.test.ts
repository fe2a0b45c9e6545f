/** Proofs that must not count. Each leaves the approval as it was, and a record of who tried. */
import { createHmac } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { ApprovalRig, ed25519, type Forging, p256, person, signed } from "../../../tests/kit/approval-rig.ts";
import { type AttackTrace, expectTrace } from "../../../tests/kit/attack-trace.ts";
import type { Approval, ConfirmOrder } from "../../contract/index.ts";

let rig: ApprovalRig;
let approval: Approval;
beforeEach(async () => {
  rig = new ApprovalRig();
  approval = await rig.request('{"percent":75,"valve":"v-3"}');
});

const relay = person("relay");
const base64url = (text: string) => Buffer.from(text).toString("base64url");

/** The last proof that was brought. */
let shown = "";

async function confirm(value: string, more: Partial<ConfirmOrder> & { type?: string; format?: string } = {}) {
  shown = value;
  const { type = "operator_signature", format = "jws", ...order } = more;
  return await rig.decider.confirm(relay, {
    id: approval.id,
    decision: "approve",
    proof: { type, format, value },
    ...order,
  });
}

/** It counts for nothing, and whoever tried is on record; nothing of the proof is. */
async function expectRefused(answer: unknown, reason: string, trace: Partial<AttackTrace> = {}): Promise<void> {
  expect(answer).toMatchObject({ type: "refused", reason });
  expect(await rig.rows.get(approval.id)).toMatchObject({ state: "waiting" });
  const known = { server: "plant", name: "open", details: { approval: approval.id } };
  const type = "dev.isthmus.approval.refused";
  expectTrace(rig.trail.events.slice(-1), { type, why: reason, ...known, ...trace }, [shown]);
}

const FORGERIES: readonly (readonly [what: string, reason: string, forging: (rig: ApprovalRig) => Forging])[] = [
  ["by a key that nobody trusts", "unknown_trust_anchor", () => ({ signer: ed25519() })],
  ["by a P-256 key that nobody trusts", "unknown_trust_anchor", () => ({ signer: p256() })],
  ["by a trusted key of another type of proof", "unknown_trust_anchor", ({ engine }) => ({ signer: engine })],
  ["with a key id that is not the key's", "unknown_trust_anchor", () => ({ header: { kid: "op-1" } })],
  ["with the signature of nothing", "malformed", () => ({ signature: "" })],
  ["with a signature of zeros", "unknown_trust_anchor", () => ({ signature: "A".repeat(86) })],
  ["with a signature that is no base64url", "malformed", () => ({ signature: "not base64!" })],
  ["with padded base64", "malformed", () => ({ signature: `${"A".repeat(86)}==` })],
  ["with base64 in another spelling of the same bytes", "malformed", () => ({ signature: `${"A".repeat(85)}B` })],
  ["with alg none", "algorithm_not_allowed", () => ({ header: { alg: "none" }, signature: "AA" })],
  ["with alg None", "algorithm_not_allowed", () => ({ header: { alg: "None" } })],
  ["with alg HS256", "algorithm_not_allowed", () => ({ header: { alg: "HS256" } })],
  ["with alg RS256", "algorithm_not_allowed", () => ({ header: { alg: "RS256" } })],
  ["with alg ES256 over an Ed25519 key", "unknown_trust_anchor", () => ({ header: { alg: "ES256" } })],
  ["with no alg", "algorithm_not_allowed", () => ({ header: { alg: undefined } })],
  ["of another type of token", "wrong_type", () => ({ header: { typ: "at+jwt" } })],
  ["with no type", "wrong_type", () => ({ header: { typ: undefined } })],
  [
    "that brings its own key",
    "header_not_allowed",
    () => ({ header: { jwk: { kty: "OKP", crv: "Ed25519", x: "AA" } } }),
  ],
  ["that names where its key is", "header_not_allowed", () => ({ header: { jku: "https://evil.example/keys" } })],
  ["that brings a certificate", "header_not_allowed", () => ({ header: { x5c: ["AA"] } })],
  ["with rules that nobody knows", "header_not_allowed", () => ({ header: { crit: ["exp"] } })],
  ["whose payload is not encoded", "header_not_allowed", () => ({ header: { b64: false } })],
  [
    "for another gateway",
    "wrong_audience",
    () => ({ claims: { aud: "urn:uuid:9b0c7a11-2222-4333-8444-555566667777" } }),
  ],
  ["for two gateways", "wrong_audience", () => ({ claims: { aud: ["urn:uuid:a", "urn:uuid:b"] } })],
  ["for no gateway", "wrong_audience", () => ({ without: ["aud"] })],
  ["for another confirmation", "wrong_confirmation", () => ({ claims: { confirmation_id: "another" } })],
  ["for no confirmation", "wrong_confirmation", () => ({ without: ["confirmation_id"] })],
  ["with another nonce", "wrong_nonce", () => ({ claims: { nonce: "AAAAAAAAAAAAAAAAAAAAAA" } })],
  ["with no nonce", "wrong_nonce", () => ({ without: ["nonce"] })],
  ["for another tool", "wrong_tool", () => ({ claims: { tool: "plant.close" } })],
  ["for a tool of another case", "wrong_tool", () => ({ claims: { tool: "Plant.Open" } })],
  ["for no tool", "wrong_tool", () => ({ without: ["tool"] })],
  [
    "for other arguments",
    "wrong_arguments",
    () => ({ claims: { args_sha256: "2hRodf_VBJwmlds4nMNWbUBWfU2WNgOS4aW9P2g4EHw" } }),
  ],
  ["for no arguments", "wrong_arguments", () => ({ without: ["args_sha256"] })],
  ["that denies", "wrong_decision", () => ({ claims: { decision: "deny" } })],
  ["that decides nothing", "wrong_decision", () => ({ without: ["decision"] })],
  ["whose decision is no text", "wrong_decision", () => ({ claims: { decision: ["approve"] } })],
  ["that has expired", "proof_expired", () => ({ claims: { iat: 0.1, exp: 0.9 } })],
  ["that expires never", "missing_time", () => ({ without: ["exp"] })],
  ["that expires at no number", "missing_time", () => ({ claims: { exp: "9999999999" } })],
  ["that was made at no time", "missing_time", () => ({ without: ["iat"] })],
  ["that was made in the future", "not_yet_valid", () => ({ claims: { iat: 3_600, exp: 3_900 } })],
  ["that is not yet valid", "not_yet_valid", () => ({ claims: { nbf: 3_600 } })],
  ["that is valid for a year", "valid_too_long", () => ({ claims: { exp: 31_536_000 } })],
  ["of nobody", "missing_sub", () => ({ without: ["sub"] })],
  ["of somebody without a name", "missing_sub", () => ({ claims: { sub: "" } })],
  ["that cannot be told from another", "missing_jti", () => ({ without: ["jti"] })],
  ["of the caller itself", "own_principal", () => ({ claims: { sub: "agent" } })],
  ["of the caller as an operator", "own_principal", () => ({ claims: { sub: "operator:agent" } })],
  ["of the caller's client", "own_principal", () => ({ claims: { iss: "client-agent" } })],
];

describe("a proof is refused", () => {
  test.each(FORGERIES)("[AX-200] %s: %s", async (_what, reason, forging) => {
    await expectRefused(await confirm(await rig.proof(approval, forging(rig))), reason);
  });

  test.each([
    ["that is empty", ""],
    ["that is no JWS", "approve"],
    ["of two parts", "e30.e30"],
    ["of four parts", "e30.e30.AA.AA"],
    ["whose header is no object", `${base64url("[]")}.e30.AA`],
    ["whose claims are no JSON", `e30.${base64url("{")}.AA`],
    ["that is too long to be one", `${"A".repeat(9000)}.e30.AA`],
  ])("[AX-196] %s", async (_what, value) => {
    await expectRefused(await confirm(value), "malformed");
  });

  test("[AX-196] that is missing", async () => {
    const answer = await rig.decider.confirm(relay, { id: approval.id, decision: "approve" });
    await expectRefused(answer, "missing_proof");
  });

  test("in a format that nobody knows, and of a type that nobody is trusted with", async () => {
    const value = await rig.proof(approval);
    await expectRefused(await confirm(value, { format: "jwe" }), "unknown_format");
    await expectRefused(await confirm(value, { type: "approval_token" }), "unknown_trust_anchor");
  });

  test("signed with the public key as a secret", async () => {
    const [, claims] = (await rig.proof(approval)).split(".");
    const text = `${base64url('{"alg":"HS256","typ":"mcpax-proof+jwt"}')}.${claims}`;
    const signature = createHmac("sha256", rig.operator.anchor).update(text).digest("base64url");
    await expectRefused(await confirm(`${text}.${signature}`), "algorithm_not_allowed");
  });

  test("whose claims are written twice", async () => {
    const claims = JSON.stringify(await rig.claims(approval));
    const twice = `${claims.slice(0, -1)},"decision":"approve"}`;
    const text = `${base64url('{"alg":"EdDSA","typ":"mcpax-proof+jwt"}')}.${base64url(twice)}`;
    await expectRefused(await confirm(`${text}.${signed(text, rig.operator)}`), "malformed");
  });

  test("whose claims were changed after it was signed", async () => {
    const [header, , signature] = (await rig.proof(approval)).split(".");
    const other = base64url(JSON.stringify({ ...(await rig.claims(approval)), sub: "operator:eve" }));
    await expectRefused(await confirm(`${header}.${other}.${signature}`), "unknown_trust_anchor");
  });

  test("by an issuer that its anchor does not name", async () => {
    const value = await rig.proof(approval, { signer: rig.engine });
    await expectRefused(await confirm(value, { type: "policy_nonce" }), "wrong_issuer");
  });

  test("[AX-201] by the caller's own key, though it is trusted", async () => {
    const [anchor, ...rest] = rig.anchors;
    if (!anchor) throw new Error("no anchor");
    rig.anchors = [{ ...anchor, holders: ["client-agent"] }, ...rest];
    await expectRefused(await confirm(await rig.proof(approval)), "own_key");
  });

  test("by an anchor of another tenant", async () => {
    const [anchor, ...rest] = rig.anchors;
    if (!anchor) throw new Error("no anchor");
    rig.anchors = [{ ...anchor, tenants: ["acme"] }, ...rest];
    await expectRefused(await confirm(await rig.proof(approval)), "unknown_trust_anchor");
  });

  test("where no anchor is left", async () => {
    rig.anchors = [];
    await expectRefused(await confirm(await rig.proof(approval)), "unknown_trust_anchor");
  });

  test("brought by somebody of another tenant, who learns nothing", async () => {
    const value = await rig.proof(approval);
    const stranger = person("stranger", { tenant: "acme" });
    const proof = { type: "operator_signature", format: "jws", value };
    const answer = await rig.decider.confirm(stranger, { id: approval.id, decision: "approve", proof });
    expect(answer).toMatchObject({ message: "confirmation_unknown" });
    await expectRefused(answer, "unknown", { actor: "stranger", server: "", name: "" });
    expect(rig.trail.events.at(-1)).toMatchObject({ tenant: "acme" });
  });
});

test("proofs that are tried again and again are counted, and those of others are still on record", async () => {
  for (let times = 0; times < 1_000; times++) await confirm("approve");
  const refused = () => rig.trail.events.filter(({ type }) => type === "dev.isthmus.approval.refused");
  expect(refused()).toHaveLength(50);
  const order = { id: approval.id, decision: "approve" } as const;
  await expectRefused(await rig.decider.confirm(person("another"), order), "missing_proof", { actor: "another" });
  rig.time.advance(1_000);
  await expectRefused(await confirm("approve"), "malformed", { actor: "relay", details: { skipped: 950 } });
});

describe("evidence", () => {
  test("of an operator is too weak where a proof is needed", async () => {
    const answer = await rig.decider.decideAs(person("bob", { role: "admin" }), approval.id, "approve");
    await expectRefused(answer, "evidence_too_weak");
  });

  test("of the session's user is too weak where a proof is needed", async () => {
    await expectRefused(await rig.decider.decideInSession(person("agent"), approval, "approve"), "evidence_too_weak");
  });

  test("of the session's user is too weak where an operator is needed", async () => {
    approval = await rig.request("{}", { evidence: "operator" });
    await expectRefused(await rig.decider.decideInSession(person("agent"), approval, "approve"), "evidence_too_weak");
  });

  test.each([
    ["viewer", "viewer"],
    ["somebody who may only call", undefined],
  ] as const)("of a %s is none", async (_who, role) => {
    approval = await rig.request("{}", { evidence: "operator" });
    const answer = await rig.decider.decideAs(person("bob", { role }), approval.id, "approve");
    await expectRefused(answer, "not_an_operator");
  });

  test("of an operator who asks for it is none, under this or another token", async () => {
    approval = await rig.request("{}", { evidence: "operator" });
    const self = person("agent", { role: "operator" });
    await expectRefused(await rig.decider.decideAs(self, approval.id, "approve"), "own_principal");
    const other = { ...person("second-token", { role: "operator", user: "agent" }) };
    await expectRefused(await rig.decider.decideAs(other, approval.id, "approve"), "own_principal");
  });

  test("of an operator whose token the caller made, itself or through others, is none", async () => {
    approval = await rig.request("{}", { evidence: "operator" });
    const made = (...makers: string[]) => person("puppet", { role: "operator", makers });
    for (const puppet of [made("user:default/agent"), made("user:default/agent", "user:default/puppet")]) {
      await expectRefused(await rig.decider.decideAs(puppet, approval.id, "approve"), "made_by_requester");
    }
    // As of a token from before makers were kept, whose maker came by an issuer.
    await expectRefused(await rig.decider.decideAs(made("agent"), approval.id, "approve"), "made_by_requester");
    const other = made("user:default/root", "user:acme/agent");
    expect(await rig.decider.decideAs(other, approval.id, "approve")).toMatchObject({ status: "approved" });
  });

  test.each([
    ["who made the caller's token", person("root", { role: "admin" })],
    ["of the same maker as the caller", person("ops", { role: "operator", makers: ["user:default/root"] })],
  ])("of an operator %s is one, and the trail has both beside it", async (_who, operator) => {
    const agent = person("agent", { makers: ["user:default/root"] });
    approval = await rig.request("{}", { principal: agent, evidence: "operator" });
    expect(await rig.decider.decideAs(operator, approval.id, "approve")).toMatchObject({ status: "approved" });
    const [asked, granted] = rig.trail.events.slice(-2);
    expect(asked?.details).toMatchObject({ approval: approval.id, requesterMadeBy: ["user:default/root"] });
    expect(granted).toMatchObject({
      type: "PERMISSION_GRANTED",
      actor: { id: operator.id },
      details: { approval: approval.id },
    });
  });

  test.each([
    ["", ""],
    ["", "bob"],
    ["ann", ""],
  ])(
    "of the client that asks for it is none where nobody is behind one of its tokens: %j, %j",
    async (asks, decides) => {
      const bot = person("token-1", { user: asks, client: "build-bot" });
      approval = await rig.request("{}", { principal: bot, evidence: "operator" });
      const second = person("token-2", { user: decides, client: "build-bot", role: "operator" });
      await expectRefused(await rig.decider.decideAs(second, approval.id, "approve"), "own_principal");
    },
  );

  test("of another person with the same client, or of a client without a name, is one", async () => {
    const ann = person("token-1", { user: "ann", client: "console" });
    const first = await rig.request('{"n":1}', { principal: ann, evidence: "operator" });
    const bob = person("token-2", { user: "bob", client: "console", role: "operator" });
    expect(await rig.decider.decideAs(bob, first.id, "approve")).toMatchObject({ status: "approved" });
    const nameless = person("token-3", { user: "", client: "" });
    const second = await rig.request('{"n":2}', { principal: nameless, evidence: "operator" });
    const other = person("token-4", { user: "", client: "", role: "operator" });
    expect(await rig.decider.decideAs(other, second.id, "approve")).toMatchObject({ status: "approved" });
  });

  test("of an operator of another tenant is none", async () => {
    approval = await rig.request("{}", { evidence: "operator" });
    const stranger = person("eve", { role: "admin", tenant: "acme" });
    const answer = await rig.decider.decideAs(stranger, approval.id, "approve");
    await expectRefused(answer, "unknown", { actor: "eve", server: "", name: "" });
  });
});
