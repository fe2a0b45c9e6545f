import { beforeEach, describe, expect, test } from "vitest";
import { ApprovalRig, p256, person } from "../../../tests/kit/approval-rig.ts";
import { type Approval, type ConfirmAnswer, isOpen, payload } from "../../contract/index.ts";

let rig: ApprovalRig;
beforeEach(() => {
  rig = new ApprovalRig();
});

async function confirm(approval: Approval, decision: "approve" | "deny" = "approve"): Promise<ConfirmAnswer> {
  const proof = { type: "operator_signature", format: "jws", value: await rig.proof(approval, {}, decision) };
  return await rig.decider.confirm(person("relay"), { id: approval.id, decision, proof });
}

const stateOf = async ({ id }: Approval) => (await rig.rows.get(id))?.state;

describe("a request", () => {
  test("[AX-190] [AX-191] has what was asked for, by whom, and until when [AX-195]", async () => {
    const approval = await rig.request('{"percent":75,"valve_id":"v-3"}');
    expect(approval).toMatchObject({
      tenant: "default",
      principal: "agent",
      server: "plant",
      tool: "plant.open",
      digest: "2hRodf_VBJwmlds4nMNWbUBWfU2WNgOS4aW9P2g4EHw",
      input: '{"name":"open","arguments":{"percent":75,"valve_id":"v-3"}}',
      state: "waiting",
    });
    expect(approval.expiresAt - approval.createdAt).toBe(300_000);
    expect(rig.trail.types()).toEqual(["dev.isthmus.approval.requested"]);
    expect(JSON.stringify(rig.trail.events)).not.toContain("v-3");
  });

  test.each([
    ["the same", '{"a":1,"b":2}', '{"a":1,"b":2}'],
    ["the same in another order", '{"a":1,"b":2}', '{"b":2,"a":1}'],
    ["the same with other white space", '{"a":1}', '{ "a" : 1 }'],
    ["the same with an escape", '{"a":"é"}', '{"a":"\\u00e9"}'],
  ])("joins what is open for %s arguments", async (_what, first, second) => {
    const asked = await rig.request(Buffer.from(first).toString("latin1"));
    expect((await rig.request(Buffer.from(second).toString("latin1"))).id).toBe(asked.id);
  });

  test.each([
    ["a number in another spelling", '{"a":1}', '{"a":1.0}'],
    ["a number with an exponent", '{"a":100}', '{"a":1e2}'],
    ["a large number that rounds to the same", '{"a":9007199254740992}', '{"a":9007199254740993}'],
    ["a number as text", '{"a":1}', '{"a":"1"}'],
    ["minus zero", '{"a":0}', '{"a":-0}'],
    ["one more member", '{"a":1}', '{"a":1,"b":null}'],
    ["another order in an array", '{"a":[1,2]}', '{"a":[2,1]}'],
  ])("with %s is another one", async (_what, first, second) => {
    const asked = await rig.request(first);
    await confirm(asked);
    const other = await rig.request(second);
    expect(other.id).not.toBe(asked.id);
    expect(other.state).toBe("waiting");
  });

  test.each([
    ["a repeated key", '{"a":1,"a":2}'],
    ["a repeated key deep inside", '{"x":[{"a":1,"a":2}]}'],
    ["a key that repeats another in escapes", '{"a":1,"\\u0061":2}'],
  ])("with %s is refused: nobody could say what is approved", async (_what, args) => {
    await expect(rig.request(args)).rejects.toMatchObject({ code: "BAD_CALL" });
    expect(await rig.rows.list({ limit: 10 })).toEqual([]);
  });

  test("of another caller, tool or client is another one", async () => {
    const asked = await rig.request("{}");
    const others = [
      await rig.request("{}", { principal: person("other") }),
      await rig.request("{}", { principal: person("agent", { tenant: "acme" }) }),
      await rig.request("{}", { name: "close" }),
    ];
    expect(new Set([asked, ...others].map(({ id }) => id)).size).toBe(4);
  });

  test("is shown and signed by the name that rules have, whatever its caller calls it", async () => {
    const asked = await rig.request("{}", { calledAs: "plant.look" });
    expect(asked).toMatchObject({ tool: "plant.open", calledAs: "plant.look" });
    expect((await rig.request("{}")).id).toBe(asked.id);
    expect(rig.trail.events.at(-1)).toMatchObject({ details: { tool: "plant.open", calledAs: "plant.look" } });
    const value = await rig.proof(asked, { claims: { tool: "plant.look" } });
    const proof = { type: "operator_signature", format: "jws", value };
    const answer = await rig.decider.confirm(person("relay"), { id: asked.id, decision: "approve", proof });
    expect(answer).toMatchObject({ type: "refused", reason: "wrong_tool" });
    expect(await confirm(asked)).toMatchObject({ status: "approved" });
  });

  test("that was shown by another name than now is another one", async () => {
    const asked = await rig.request("{}", { tool: "plant.look" });
    await confirm(asked);
    const anew = await rig.request("{}");
    expect(anew).toMatchObject({ tool: "plant.open", state: "waiting" });
    expect(await stateOf(asked)).toBe("withdrawn");
  });

  test("with something beside the arguments is another one", async () => {
    const asked = await rig.request("{}");
    const other = await rig.approvals.request({
      principal: person("agent"),
      target: { provider: "plant", kind: "tool", name: "open" },
      tool: "plant.open",
      input: payload('{"name":"open","arguments":{},"force":true}'),
      gate: { reason: "x", evidence: "external_proof", capability: "{}" },
      definition: "",
    });
    expect(other.id).not.toBe(asked.id);
  });

  test.each([
    ["a long id", (pad: string) => `{"id":"${pad}","method":"tools/call","params":`],
    [
      "blanks around its members",
      (pad: string) => `{${pad.replaceAll("x", " ")}"id":1,"method":"tools/call","params":`,
    ],
    ["long arguments", () => '{"id":1,"method":"tools/call","params":'],
  ])("is refused for a message that is too long to be held, with %s", async (what, head) => {
    const pad = "x".repeat(256 * 1024);
    const params = `{"name":"open","arguments":{${what === "long arguments" ? `"pad":"${pad}"` : ""}}}`;
    const text = `${head(pad)}${params}}`;
    const start = text.length - params.length - 1;
    const asked = rig.approvals.request({
      principal: person("agent"),
      target: { provider: "plant", kind: "tool", name: "open" },
      tool: "plant.open",
      input: payload(params, { text, start, end: text.length - 1, id: undefined }),
      gate: { reason: "x", evidence: "external_proof", capability: "{}" },
      definition: "",
    });
    await expect(asked).rejects.toMatchObject({ code: "BAD_CALL" });
  });

  test("that needs more than the open one does not join it", async () => {
    const weak = await rig.request("{}", { evidence: "session_user" });
    await rig.decider.decideInSession(person("agent"), weak, "approve");
    const strong = await rig.request("{}");
    expect(strong.id).not.toBe(weak.id);
    expect(await stateOf(weak)).toBe("withdrawn");
  });

  test("of two at once makes one", async () => {
    const asked = await Promise.all([rig.request("{}"), rig.request("{}"), rig.request("{}")]);
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
  });
});

describe("a yes", () => {
  test("[AX-197] [MG-139] by an operator's key lets the call be made once", async () => {
    const approval = await rig.request("{}");
    expect(await confirm(approval)).toEqual({ type: "decided", status: "approved" });
    const joined = await rig.request("{}");
    expect(joined).toMatchObject({ id: approval.id, state: "approved", given: "external_proof" });
    expect(await rig.approvals.consume(joined, "call-1")).toBe(true);
    expect(await rig.approvals.consume(joined, "call-2")).toBe(false);
    expect(rig.trail.types()).toEqual([
      "dev.isthmus.approval.requested",
      "PERMISSION_GRANTED",
      "dev.isthmus.approval.consumed",
    ]);
    expect((await rig.request("{}")).id).not.toBe(approval.id);
  });

  test("[AX-198] by a policy engine, and [AX-199] by an approval service, counts as well", async () => {
    const service = p256();
    rig.anchors = [...rig.anchors, { type: "approval_token", key: service.anchor, holders: [], tenants: [] }];
    const first = await rig.request('{"n":1}');
    const nonce = await rig.proof(first, { signer: rig.engine, claims: { iss: "https://policy.example" } });
    const asEngine = { type: "policy_nonce", format: "jws", value: nonce };
    const order = { id: first.id, decision: "approve", proof: asEngine } as const;
    expect(await rig.decider.confirm(person("relay"), order)).toMatchObject({ status: "approved" });
    const second = await rig.request('{"n":2}');
    const token = { type: "approval_token", format: "jws", value: await rig.proof(second, { signer: service }) };
    const other = { id: second.id, decision: "approve", proof: token } as const;
    expect(await rig.decider.confirm(person("relay"), other)).toMatchObject({ status: "approved" });
  });

  test("by an operator that the gateway knows is enough where that is what is needed", async () => {
    const approval = await rig.request("{}", { evidence: "operator" });
    const answer = await rig.decider.decideAs(person("bob", { role: "operator" }), approval.id, "approve");
    expect(answer).toEqual({ type: "decided", status: "approved" });
    expect(await rig.rows.get(approval.id)).toMatchObject({ given: "operator", decidedBy: "bob" });
  });

  test.each(["approved", "consumed"])("does not count twice: %s", async (state) => {
    const approval = await rig.request("{}");
    const proof = { type: "operator_signature", format: "jws", value: await rig.proof(approval) };
    const order = { id: approval.id, decision: "approve", proof } as const;
    await rig.decider.confirm(person("relay"), order);
    if (state === "consumed") await rig.approvals.consume(await rig.request("{}"), "call");
    const again = await rig.decider.confirm(person("relay"), order);
    expect(again).toMatchObject({ message: "confirmation_unknown", reason: `already_${state}` });
    expect(rig.trail.events.at(-1)).toMatchObject({ type: "dev.isthmus.approval.refused" });
  });

  test("for a former call does not count for the next one that is the same", async () => {
    const first = await rig.request("{}");
    const value = await rig.proof(first);
    await rig.decider.confirm(person("relay"), {
      id: first.id,
      decision: "approve",
      proof: { type: "operator_signature", format: "jws", value },
    });
    await rig.approvals.consume(await rig.request("{}"), "call");
    const second = await rig.request("{}");
    const answer = await rig.decider.confirm(person("relay"), {
      id: second.id,
      decision: "approve",
      proof: { type: "operator_signature", format: "jws", value },
    });
    expect(answer).toMatchObject({ reason: "wrong_confirmation" });
    expect(await stateOf(second)).toBe("waiting");
  });

  test("[AX-195] comes too late", async () => {
    const approval = await rig.request("{}");
    rig.time.advance(299_999);
    const value = await rig.proof(approval);
    rig.time.advance(1);
    const proof = { type: "operator_signature", format: "jws", value };
    const answer = await rig.decider.confirm(person("relay"), { id: approval.id, decision: "approve", proof });
    expect(answer).toMatchObject({ message: "confirmation_expired" });
    expect(await stateOf(approval)).toBe("expired");
  });

  test("is worth nothing when the approval has expired before the call is made", async () => {
    const approval = await rig.request("{}");
    await confirm(approval);
    const joined = await rig.request("{}");
    rig.time.advance(300_000);
    expect(await rig.approvals.consume(joined, "call")).toBe(false);
    expect((await rig.request("{}")).state).toBe("waiting");
  });

  test("is worth nothing when the policy has changed since", async () => {
    const approval = await rig.request("{}");
    await confirm(approval);
    const joined = await rig.request("{}");
    rig.policyVersion = "2";
    expect(await rig.approvals.consume(joined, "call")).toBe(false);
    const anew = await rig.request("{}");
    expect(anew).toMatchObject({ state: "waiting", policyVersion: "2" });
    expect(await stateOf(approval)).toBe("withdrawn");
  });

  test("is for one of those whom a gateway calls for, and a no for all of them but one who has a yes", async () => {
    const [ann, bob] = [await rig.request("{}", { requester: "ann" }), await rig.request("{}", { requester: "bob" })];
    expect(ann.id).not.toBe(bob.id);
    await confirm(ann);
    await rig.decider.decideAs(person("ops", { role: "operator" }), bob.id, "deny");
    expect(await rig.request("{}", { requester: "ann" })).toMatchObject({ id: ann.id, state: "approved" });
    for (const more of [{ requester: "bob" }, { requester: "eve" }, {}])
      expect(await rig.request("{}", more)).toMatchObject({ id: bob.id, state: "denied" });
  });

  test("is for one token of a user, and a no for all of them but one that has a yes", async () => {
    const of = (id: string) => ({ principal: { ...person("ann"), id } });
    const [one, two, three] = [
      await rig.request("{}", of("1")),
      await rig.request("{}", of("2")),
      await rig.request("{}", of("3")),
    ];
    await confirm(one);
    await rig.decider.decideAs(person("ops", { role: "operator" }), two.id, "deny");
    expect(await rig.request("{}", of("1"))).toMatchObject({ id: one.id, state: "approved" });
    for (const id of ["2", "3", "4"]) expect(await rig.request("{}", of(id))).toMatchObject({ state: "denied" });
    expect(await rig.rows.get(three.id)).toMatchObject({ state: "denied", decidedBy: "ops", given: "operator" });
    expect(rig.trail.events.at(-1)).toMatchObject({ type: "PERMISSION_DENIED", details: { as: two.id } });
  });

  test("of another user is asked for though one was told no, also where both came by the same maker", async () => {
    const of = (id: string) => ({ principal: person(id, { makers: ["user:default/root"] }) });
    const [ann, bob] = [await rig.request("{}", of("ann")), await rig.request("{}", of("bob"))];
    await rig.decider.decideAs(person("ops", { role: "operator" }), ann.id, "deny");
    expect(await rig.request("{}", of("bob"))).toMatchObject({ id: bob.id, state: "waiting" });
    expect(await rig.request("{}", { principal: person("root") })).toMatchObject({ state: "waiting" });
  });

  test("to a withdrawn call dispatches nothing", async () => {
    const approval = await rig.request("{}");
    await rig.approvals.withdraw(approval);
    expect(await confirm(approval)).toMatchObject({ reason: "already_withdrawn" });
  });

  test("can be withdrawn before the call is made", async () => {
    const approval = await rig.request("{}");
    await confirm(approval);
    const joined = await rig.request("{}");
    await rig.approvals.withdraw(approval);
    expect(await rig.approvals.consume(joined, "call")).toBe(false);
  });
});

describe("of steps that race, one wins", () => {
  test("two that approve", async () => {
    const approval = await rig.request("{}");
    const answers = await Promise.all([confirm(approval), confirm(approval)]);
    expect(answers.map(({ type }) => type).sort()).toEqual(["decided", "refused"]);
  });

  test("one that approves and one that denies", async () => {
    const approval = await rig.request("{}");
    const answers = await Promise.all([confirm(approval), confirm(approval, "deny")]);
    expect(answers.map(({ type }) => type).sort()).toEqual(["decided", "refused"]);
  });

  test("one that approves and a caller that withdraws", async () => {
    const approval = await rig.request("{}");
    await Promise.all([rig.approvals.withdraw(approval), confirm(approval)]);
    expect(await stateOf(approval)).toBe("withdrawn");
  });

  test("two calls that would use the same yes", async () => {
    const approval = await rig.request("{}");
    await confirm(approval);
    const joined = await rig.request("{}");
    const used = await Promise.all([1, 2, 3].map((number) => rig.approvals.consume(joined, `call-${number}`)));
    expect(used.filter(Boolean)).toHaveLength(1);
  });

  test("[MG-140] a no, and a yes after it", async () => {
    const approval = await rig.request("{}");
    expect(await confirm(approval, "deny")).toEqual({ type: "decided", status: "denied" });
    expect(await confirm(approval)).toMatchObject({ reason: "already_denied" });
    expect(rig.trail.types()).toContain("PERMISSION_DENIED");
  });
});

test("what has expired is swept, told to the trail, and forgotten after an hour", async () => {
  const approval = await rig.request("{}");
  // As a process that finds what another one has left, and is asked for nothing.
  rig.approvals.open();
  const pass = async (ms: number) => {
    for (const step of [ms, 5_000]) {
      rig.time.advance(step);
      await new Promise(setImmediate);
    }
  };
  await pass(300_000);
  expect(await stateOf(approval)).toBe("expired");
  expect(rig.trail.types().at(-1)).toBe("dev.isthmus.approval.expired");
  await pass(60 * 60_000);
  expect(await rig.rows.get(approval.id)).toBeUndefined();
  rig.approvals.close();
  expect(rig.time.pending).toBe(0);
  expect(["waiting", "expired"].map((state) => rig.meter.of(`isthmus_approvals_total ${state}`))).toEqual([1, 1]);
});

test("of those that are over 5,000 are kept, and the arguments of none", async () => {
  const approval = await rig.request('{"secret":"v-3"}');
  await confirm(approval);
  const joined = await rig.request('{"secret":"v-3"}');
  expect(joined.input).toContain("v-3");
  await rig.approvals.consume(joined, "call");
  expect(await rig.rows.get(approval.id)).toMatchObject({ input: "{}", digest: approval.digest });
  const forgotten: number[] = [];
  rig.rows.forget = async (_before, most) => void forgotten.push(most);
  rig.approvals.open();
  rig.time.advance(5_000);
  await new Promise(setImmediate);
  expect(forgotten).toEqual([5_000]);
});

test("nothing that is over is open", async () => {
  const states = ["waiting", "approved", "denied", "expired", "withdrawn", "consumed"] as const;
  expect(states.filter((state) => isOpen({ state }))).toEqual(["waiting", "approved"]);
});
