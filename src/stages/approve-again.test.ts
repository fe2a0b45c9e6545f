/** What is looked at again between the yes and the call: who may, how many wait, and what a call takes. */
import { beforeEach, describe, expect, test } from "vitest";
import { person } from "../../tests/kit/approval-rig.ts";
import { HeldRig, settle } from "../../tests/kit/held-rig.ts";
import { testKernel } from "../../tests/kit/test-kernel.ts";
import { type Approval, type Call, type Decision, GatewayError, type Stage, type TokenRow } from "../contract/index.ts";
import { LiveAccess } from "../mechanisms/access/index.ts";
import { NO_POLICY } from "../mechanisms/access/policy.ts";
import type { Gate } from "../mechanisms/approvals/index.ts";
import { HeldChargeBook, LimitBook } from "../mechanisms/limits/index.ts";
import { MemoryCounters } from "../stores/memory/index.ts";
import { approveStage, missingYes } from "./approve-stage.ts";
import { authorizeStage, presentDenial } from "./authorize-stage.ts";
import { limitStages } from "./limit-stage.ts";

const GATE: Gate = { reason: "irreversible_mutable", evidence: "external_proof", capability: "{}" };

let held: HeldRig;
beforeEach(() => {
  held = new HeldRig();
});

async function serve(stages: readonly (Stage | undefined)[]): Promise<void> {
  const { time } = held.rig;
  const timing = { clock: time, timers: time, timeoutMs: 10_000 };
  held.kernel = await testKernel([held.provider], { stages: stages.map((stage) => () => stage), ...timing });
}

describe("a call whose caller may not make it any more", () => {
  /** The caller may call for as long as its grant is good. */
  async function granted(expiresAt: number) {
    const { time } = held.rig;
    const grant = { tenant: "*", type: "server_grant", agent: "agent", server: "plant", tool: "" } as const;
    const given = { permission: "allow", grantedBy: "ops", grantedAt: 1, expiresAt, justification: "" } as const;
    const access = new LiveAccess(
      {
        timers: time,
        now: () => time.now(),
        dottedOf: ({ provider, name }) => `${provider}.${name}`,
        onChange: () => undefined,
        onRefused: () => undefined,
      },
      { policy: { ...NO_POLICY, grants: [{ ...grant, ...given }] }, conceals: true },
    );
    const judging = { judge: access.judge.bind(access), conceals: () => true };
    held.refusal = (call) => presentDenial(judging, call);
    await serve([authorizeStage(judging), approveStage(held.options, "plant.open", GATE)]);
  }

  test("is not made though it is approved, when the grant ended while it was held", async () => {
    await granted(held.rig.time.now() + 5_000);
    const { seen } = held.start("{}");
    const approval = await held.waiting();
    held.rig.time.advance(20_000);
    await held.approve(approval);
    expect(held.made).toEqual([]);
    expect(seen.error).toMatchObject({ code: "NO_SUCH_TARGET" });
    expect(await held.rig.rows.get(approval.id)).toMatchObject({ state: "withdrawn", decidedBy: "gateway" });
    expect(held.rig.trail.events.at(-1)).toMatchObject({
      type: "dev.isthmus.approval.withdrawn",
      details: { why: "its caller may not make the call any more" },
    });
  });

  test("is made while the grant is good", async () => {
    await granted(held.rig.time.now() + 30_000);
    held.start("{}");
    const approval = await held.waiting();
    held.rig.time.advance(20_000);
    await held.approve(approval);
    expect(held.made).toHaveLength(1);
  });

  test("takes nothing, and neither do the others that waited for the same yes", async () => {
    const taken: string[] = [];
    const charges = () => ({ take: async ({ id }: { readonly id: string }) => void taken.push(id) });
    await serve([approveStage({ ...held.options, charges }, "plant.open", GATE)]);
    const calls = [held.start("{}"), held.start("{}")];
    const approval = await held.waiting();
    held.refusal = () => new GatewayError("NOT_ALLOWED", { message: "blocked" });
    await held.approve(approval);
    expect(calls.map(({ seen }) => seen.error?.code)).toEqual(["NOT_ALLOWED", "NOT_ALLOWED"]);
    expect([held.made, taken]).toEqual([[], []]);
  });
});

describe("what a call needs by the time at which it is sent", () => {
  const call = { verb: "call" } as Call;
  const rule = { effect: "confirm", source: "rule", reason: "" } as const;
  const missing = (one: Call, gate: Gate | undefined, confirm?: Decision) =>
    missingYes(one, { tool: "plant.open", gate, confirm })?.code;

  test.each<[string, Call, Gate | undefined, Decision | undefined]>([
    ["nothing", call, undefined, undefined],
    ["nothing any more", { ...call, confirm: rule }, undefined, undefined],
    ["a yes that it has used", { ...call, approvedBy: "operator" }, undefined, rule],
    ["a weaker yes than it has used", { ...call, approvedBy: "external_proof" }, undefined, rule],
    ["what other calls need: it is about one that was made", { ...call, resumes: "c" }, GATE, rule],
    ["what other verbs need", { ...call, verb: "read" }, GATE, undefined],
  ])("may be %s", (_what, one, gate, confirm) => {
    expect(missing(one, gate, confirm)).toBeUndefined();
  });

  test.each<[string, Call, Gate | undefined, Decision | undefined]>([
    ["a yes by a rule", call, undefined, rule],
    ["a yes by what its tool declares now", call, GATE, undefined],
    ["a stronger yes than it has used", { ...call, approvedBy: "operator" }, GATE, undefined],
  ])("may be %s, and then it is not sent", (_what, one, gate, confirm) => {
    expect(missing(one, gate, confirm)).toBe("CONFIRMATION_REQUIRED");
  });
});

describe("a call whose approver is blocked after the yes", () => {
  const operator = person("op", { user: "op", role: "operator", tokenHash: "h", makerNames: [] });
  const taken: string[] = [];
  const why = () => held.rig.trail.events.flatMap(({ details }) => details?.why ?? []);

  beforeEach(async () => {
    taken.length = 0;
    const charges = () => ({ take: async ({ id }: { readonly id: string }) => void taken.push(id) });
    await serve([approveStage({ ...held.options, charges }, "plant.open", { ...GATE, evidence: "operator" })]);
  });

  test("is not made when it is asked for again: somebody is asked anew, and nothing is taken", async () => {
    held.start("{}");
    const approval = await held.waiting();
    held.rig.time.advance(45_000);
    await settle();
    const said = held.rig.decider.decideAs(operator, approval.id, "approve");
    expect(await said).toMatchObject({ status: "approved" });
    held.rig.isRevoked = ({ id, identity }) => id === "op" && identity?.user === "op" && identity.tokenHash === "h";
    held.start("{}");
    const anew = await held.waiting();
    expect(anew.id).not.toBe(approval.id);
    expect(await held.rig.rows.get(approval.id)).toMatchObject({ state: "withdrawn", decidedBy: "gateway" });
    expect([held.made, taken, why()]).toEqual([[], [], ["whoever approved it was blocked since"]]);
    await held.rig.decider.decideAs(person("other", { role: "operator" }), anew.id, "approve");
    await settle();
    expect(held.made).toHaveLength(1);
  });

  /** Said yes, was held no longer, and is asked for again. */
  async function againAfter(change: () => void, decider = operator) {
    held.start("{}");
    const approval = await held.waiting();
    held.rig.time.advance(45_000);
    await settle();
    await held.rig.decider.decideAs(decider, approval.id, "approve");
    change();
    const { seen } = held.start("{}");
    await settle();
    return { approval, seen };
  }

  test.each<[string, TokenRow | undefined]>([
    ["is gone, though nothing blocks it any more", undefined],
    ["has ended, though it is not cleared away yet", { hash: "h", expiresAt: 45_000 } as TokenRow],
  ])("is not made where their token %s", async (_how, row) => {
    const { approval } = await againAfter(() => {
      held.rig.findToken = async () => row;
    });
    expect(await held.rig.rows.get(approval.id)).toMatchObject({ state: "withdrawn", decidedBy: "gateway" });
    expect([held.made, taken, why()]).toEqual([[], [], ["whoever approved it was blocked since"]]);
  });

  test("is not made where nobody can tell whether their token is good, and the yes goes on to be there", async () => {
    const { approval, seen } = await againAfter(() => {
      held.rig.findToken = async () => Promise.reject(new GatewayError("STATE_UNAVAILABLE"));
    });
    expect(seen.error).toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect(await held.rig.rows.get(approval.id)).toMatchObject({ state: "approved" });
    expect(held.made).toEqual([]);
  });

  test.each([
    ["the operator's own token of the machine", person("op", { role: "admin" })],
    ["an issuer", person("op", { role: "operator", proof: "oidc", tokenHash: "h" })],
    ["a certificate", person("op", { role: "operator", proof: "certificate" })],
  ])("is made where they are known by %s, of which the gateway keeps no row", async (_by, decider) => {
    await againAfter(() => {
      held.rig.findToken = async () => undefined;
    }, decider);
    expect(held.made).toHaveLength(1);
  });

  test("is not made where it was held: its caller is told to wait for another yes", async () => {
    const { seen } = held.start("{}");
    const approval = await held.waiting();
    held.rig.isRevoked = ({ id }) => id === "op";
    const saying = held.rig.decider.decideAs(operator, approval.id, "approve");
    await settle();
    held.rig.time.advance(1_000);
    await saying;
    const anew = await held.waiting();
    const details = { gate: { confirmation_id: anew.id } };
    expect(seen.error).toMatchObject({ code: "CONFIRMATION_REQUIRED", details });
    expect([held.made, taken, why()]).toEqual([[], [], ["whoever approved it was blocked since"]]);
  });
});

describe("calls that wait for one yes", () => {
  async function limited(entry: { readonly budget: number }) {
    const { time } = held.rig;
    const book = new LimitBook(({ provider, name }) => `${provider}.${name}`);
    book.replace([{ selector: {}, per: [], ...entry }]);
    const charges = new HeldChargeBook();
    const counters = new MemoryCounters({ clock: time, isAlive: () => true });
    const stageOf = limitStages({
      planOf: (entry) => book.planOf(entry),
      counters,
      held: charges,
      isHeld: () => true,
      member: () => "m",
    });
    const limit = stageOf({ target: { provider: "plant", kind: "tool", name: "open" } });
    await serve([limit, approveStage({ ...held.options, charges: () => charges }, "plant.open", GATE)]);
  }

  /** Whoever approves is kept waiting for a second where the call is not made. */
  async function approveInVain(approval: Approval): Promise<void> {
    const approving = held.approve(approval);
    await settle();
    held.rig.time.advance(1_000);
    await approving;
  }

  test("spend the budget of the one that is made", async () => {
    await limited({ budget: 2 });
    const calls = Array.from({ length: 10 }, () => held.start('{"n":1}'));
    await held.approve(await held.waiting());
    expect(held.made).toHaveLength(1);
    expect(calls.filter(({ seen }) => seen.error?.code === "CONFLICT")).toHaveLength(9);
    const second = held.start('{"n":2}');
    await held.approve(await held.waiting());
    expect([held.made.length, second.seen.error]).toEqual([2, undefined]);
    const third = held.start('{"n":3}');
    await approveInVain(await held.waiting());
    expect([held.made.length, third.seen.error?.code]).toEqual([2, "LIMITED"]);
  });

  test("each try for it: one that finds no budget does not use it up", async () => {
    await limited({ budget: 1 });
    held.start('{"n":1}');
    await held.approve(await held.waiting());
    const calls = [held.start('{"n":2}'), held.start('{"n":2}')];
    const approval = await held.waiting();
    await approveInVain(approval);
    expect(calls.map(({ seen }) => seen.error?.code)).toEqual(["LIMITED", "LIMITED"]);
    expect(await held.rig.rows.get(approval.id)).toMatchObject({ state: "approved" });
  });
});

describe("calls that are held", () => {
  beforeEach(() => serve([approveStage(held.options, "plant.open", GATE)]));

  test("are 200 of one caller, also where all are the same", async () => {
    const calls = Array.from({ length: 201 }, () => held.start("{}"));
    const other = held.start("{}", { principal: person("other") });
    await settle();
    expect(calls.map(({ seen }) => seen.error?.code).filter(Boolean)).toEqual(["OVERLOADED"]);
    expect(other.seen.error).toBeUndefined();
  });

  test("make room as soon as they are held no longer, however they end", async () => {
    const calls = Array.from({ length: 200 }, () => held.start("{}"));
    const approval = await held.waiting();
    await held.approve(approval);
    expect(calls.filter(({ seen }) => seen.error?.code === "CONFLICT")).toHaveLength(199);
    const others = Array.from({ length: 200 }, () => held.start('{"n":2}'));
    await settle();
    expect(others.filter(({ seen }) => seen.error)).toEqual([]);
    for (const { run } of others) run.cancel();
    await settle();
    const last = held.start('{"n":3}');
    await settle();
    expect(last.seen.error).toBeUndefined();
  });
});
