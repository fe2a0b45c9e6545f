import { beforeEach, describe, expect, test } from "vitest";
import { type ApprovalRig, person } from "../../tests/kit/approval-rig.ts";
import { HeldRig, Seen, settle } from "../../tests/kit/held-rig.ts";
import { type Approval, type Evidence, GatewayError, payload } from "../contract/index.ts";
import { approveStage } from "./approve-stage.ts";

let held: HeldRig;
let rig: ApprovalRig;

async function build(evidence?: Evidence): Promise<void> {
  held = await HeldRig.make(evidence);
  rig = held.rig;
}

const start: HeldRig["start"] = (args, more) => held.start(args, more);
const waiting = () => held.waiting();
const approve = (approval: Approval) => held.approve(approval);
const made = () => held.made;

beforeEach(() => build("external_proof"));

describe("a call that must be approved", () => {
  test("[AX-188] [AX-194] reaches its server when it is approved, and not before", async () => {
    const { seen } = start('{"a":1}');
    const approval = await waiting();
    expect(made()).toEqual([]);
    expect(await approve(approval)).toEqual({ type: "decided", status: "dispatched", connection: "open" });
    expect(made().map(({ call }) => call.input.text)).toEqual(['{"name":"open","arguments":{"a":1}}']);
    made()[0]?.write({ type: "end", outcome: "result", payload: payload('{"content":[]}') });
    expect(seen.events.at(-1)).toMatchObject({ type: "end", outcome: "result" });
  });

  test("holds no slot, and its time begins when it is made", async () => {
    const { seen } = start("{}");
    const approval = await waiting();
    rig.time.advance(40_000);
    await settle();
    expect(seen.error).toBeUndefined();
    await approve(approval);
    rig.time.advance(9_900);
    expect(seen.error).toBeUndefined();
    rig.time.advance(200);
    expect(seen.error?.code).toBe("DEADLINE_PASSED");
  });

  test("[AX-189] [AX-193] ends with what to wait for when nobody has decided for 45 s", async () => {
    const { seen } = start('{"valve":"v-3"}');
    const approval = await waiting();
    rig.time.advance(45_000);
    await settle();
    expect(seen.error).toMatchObject({
      code: "CONFIRMATION_REQUIRED",
      details: {
        gate: {
          status: "confirmation_required",
          confirmation_id: approval.id,
          tool: "plant.open",
          arguments: { valve: "v-3" },
          capability: { mutable: true },
          route: ["plant", "open"],
          gate_aggregator_id: await rig.rows.gateway(),
          reason: "irreversible_mutable",
          args_sha256: approval.digest,
          nonce: approval.nonce,
          expires_at: "1970-01-01T00:05:01Z",
          expires_in_ms: 255_000,
          proof_types: ["operator_signature"],
        },
      },
    });
    expect(made()).toEqual([]);
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "waiting" });
  });

  test("is told to wait as progress, so little that the tool's own is more", async () => {
    const { seen } = start("{}");
    await waiting();
    rig.time.advance(20_000);
    const told = seen.of("progress").map(({ payload: { text } }) => JSON.parse(text).progress as number);
    expect(told).toHaveLength(3);
    expect(told.every((progress, index) => index === 0 || progress > (told[index - 1] ?? 0))).toBe(true);
    expect(Math.max(...told)).toBeLessThan(0.001);
  });

  test.each([
    [
      "on a page",
      {},
      /^Waits for a yes: open \S+ or run "isthmus approve \w{4}" in another terminal; this call then goes/,
    ],
    [
      "by its client",
      { isAlone: true },
      /^Waits for a signed yes, .* mcpax\/confirm; this call then goes on by itself\.$/,
    ],
  ])(
    "says while it is held that it goes on by itself, and that it must be made again only at the end: %s",
    async (_how, where, words) => {
      Object.assign(held, { pages: "http://gateway.example", ...where });
      const { seen } = start("{}");
      await waiting();
      rig.time.advance(10_000);
      const told = seen.of("progress").map(({ payload: { text } }) => String(JSON.parse(text).message));
      expect(told).toEqual([expect.stringMatching(words), expect.stringMatching(words)]);
      expect(seen.of("status")[0]).toMatchObject({ message: told[0] });
      expect(told.join()).not.toContain("call again");
      rig.time.advance(35_000);
      await settle();
      expect(seen.error?.message).toMatch(/then call again\.$/);
    },
  );

  test("is made at once when it is repeated after the yes, with the bytes that were approved", async () => {
    start('{"b":2,"a":1}');
    const approval = await waiting();
    rig.time.advance(45_000);
    await settle();
    expect(await approve(approval)).toEqual({ type: "decided", status: "approved" });
    const meta = '"_meta":{"progressToken":7}';
    start("{}", { input: payload(`{"name":"open","arguments":{"a":1,"b":2},${meta}}`) });
    await settle();
    expect(made().map(({ call }) => call.input.text)).toEqual([
      '{"name":"open","arguments":{"b":2,"a":1},"_meta":{"progressToken":7}}',
    ]);
  });

  test.each([
    ["words in _meta", '{"name":"open","arguments":{},"_meta":{"as":"root"}}'],
    ["a param that nobody knows", '{"name":"open","arguments":{},"force":true}'],
    ["a task", '{"name":"open","arguments":{},"task":{"ttl":1}}'],
  ])("does not use the yes for a call that sends nothing but arguments, where it sends %s", async (_what, params) => {
    start("{}");
    const approval = await waiting();
    rig.time.advance(45_000);
    await settle();
    await approve(approval);
    start("{}", { input: payload(params) });
    await settle();
    expect(made()).toEqual([]);
    expect((await waiting()).id).not.toBe(approval.id);
  });

  test("is the same call in each trace that the gateway itself writes, and goes out in that of the repeat", async () => {
    held = await HeldRig.make("external_proof", { isTraced: true });
    rig = held.rig;
    const traced = (span: string) => ({
      input: payload(`{"name":"open","arguments":{},"_meta":{"traceparent":"00-${"a".repeat(32)}-${span}-01"}}`),
    });
    start("{}", traced("b".repeat(16)));
    const approval = await waiting();
    expect(approval.input).not.toContain("traceparent");
    rig.time.advance(45_000);
    await settle();
    await approve(approval);
    const again = traced("c".repeat(16));
    start("{}", again);
    await settle();
    expect(made().map(({ call }) => call.input.text)).toEqual([again.input.text]);
  });

  test("is made once, though two of the same waited for the yes", async () => {
    const first = start("{}");
    const second = start("{}");
    await approve(await waiting());
    expect(made()).toHaveLength(1);
    const ended = [first, second].filter(({ seen }) => seen.error !== undefined);
    expect(ended.map(({ seen }) => seen.error?.code)).toEqual(["CONFLICT"]);
  });

  test("is not made when it was denied", async () => {
    const { seen } = start("{}");
    const { id } = await waiting();
    await rig.decider.decideAs(person("bob", { role: "operator" }), id, "deny");
    await settle();
    expect(seen.error).toMatchObject({ code: "NOT_ALLOWED" });
    expect(made()).toEqual([]);
  });

  test("that was denied gets the same no again while that holds, and nobody is asked", async () => {
    start("{}");
    const { id } = await waiting();
    await rig.decider.decideAs(person("bob", { role: "operator" }), id, "deny");
    await settle();
    const again = start("{}");
    const other = start('{"other":true}');
    await settle();
    expect(again.seen.error).toMatchObject({
      code: "NOT_ALLOWED",
      message: expect.stringMatching(
        /^Denied by bob \(approval .*\)\. Nobody is asked about the same call again before 1970-01-01T00:05:01Z\.$/,
      ),
    });
    expect(other.seen.error).toBeUndefined();
    const asked = async () => (await rig.rows.list({ state: "waiting", limit: 9 })).map(({ beginning }) => beginning);
    expect(await asked()).toEqual(['{"name":"open","arguments":{"other":true}}']);
    rig.time.advance(300_000);
    const later = start("{}");
    await settle();
    expect(later.seen.error).toBeUndefined();
    expect(await asked()).toContain('{"name":"open","arguments":{}}');
  });

  test("that was denied is asked for anew under another policy, or where a no is to hold for no time", async () => {
    start("{}");
    await rig.decider.decideAs(person("bob", { role: "operator" }), (await waiting()).id, "deny");
    await settle();
    rig.policyVersion = "another";
    start("{}");
    rig.denialMs = 0;
    await rig.decider.decideAs(person("bob", { role: "operator" }), (await waiting()).id, "deny");
    await settle();
    start("{}");
    expect(await waiting()).toMatchObject({ state: "waiting" });
  });

  test("withdraws its approval when its caller cancels", async () => {
    const { run } = start("{}");
    const approval = await waiting();
    run.cancel("no more");
    await settle();
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "withdrawn" });
    expect(await approve(approval)).toMatchObject({ reason: "already_withdrawn" });
    expect(made()).toEqual([]);
    expect(rig.trail.types()).toContain("dev.isthmus.approval.withdrawn");
  });

  test("withdraws a yes that it was about to use when its caller cancels", async () => {
    start("{}");
    const approval = await waiting();
    rig.time.advance(45_000);
    await settle();
    await approve(approval);
    const { run } = start("{}");
    run.cancel("no more");
    await settle();
    expect(made()).toEqual([]);
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "withdrawn" });
  });

  test("keeps its approval when another one waits for it, or when the gateway stops", async () => {
    const first = start("{}");
    start("{}");
    const approval = await waiting();
    first.run.cancel("no more");
    await settle();
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "waiting" });
    await held.kernel.kernel.close();
    await settle();
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "waiting" });
  });

  test("is not made when the policy changed between the yes and the call", async () => {
    start("{}");
    const approval = await waiting();
    rig.time.advance(45_000);
    await settle();
    await approve(approval);
    rig.policyVersion = "2";
    const { seen } = start("{}");
    await settle();
    expect(made()).toEqual([]);
    expect(seen.error).toBeUndefined();
    expect(await waiting()).not.toMatchObject({ id: approval.id });
  });

  test("is not made when the policy changed while it was held", async () => {
    const { seen } = start("{}");
    const approval = await waiting();
    rig.policyVersion = "2";
    await approve(approval);
    expect(made()).toEqual([]);
    expect(seen.error).toMatchObject({ code: "NOT_ALLOWED" });
    expect(await rig.rows.get(approval.id)).toMatchObject({ state: "withdrawn" });
  });

  test("is not made while the store is away, whichever step needs it", async () => {
    const away = () => Promise.reject(new GatewayError("STATE_UNAVAILABLE"));
    const find = rig.rows.find.bind(rig.rows);
    rig.rows.find = away;
    const first = start("{}");
    await settle();
    expect(first.seen.error?.code).toBe("STATE_UNAVAILABLE");
    rig.rows.find = find;
    const second = start("{}");
    const approval = await waiting();
    const proof = { type: "operator_signature", format: "jws", value: await rig.proof(approval) };
    const commit = rig.trail.commit.bind(rig.trail);
    rig.trail.commit = (event, changes) => (event.type === "PERMISSION_GRANTED" ? commit(event, changes) : away());
    const deciding = rig.decider.confirm(person("relay"), { id: approval.id, decision: "approve", proof });
    await settle();
    rig.time.advance(1_000);
    expect(await deciding).toMatchObject({ status: "approved" });
    expect(second.seen.error?.code).toBe("STATE_UNAVAILABLE");
    expect(made()).toEqual([]);
  });

  test("is refused when its arguments can be read in two ways", async () => {
    const { seen } = start('{"a":1,"a":2}');
    await settle();
    expect(seen.error?.code).toBe("BAD_CALL");
  });

  test("waits as a task, for as long as the approval, where its caller takes one", async () => {
    const { seen, run } = start("{}", { mayDefer: true, life: "detached" });
    const approval = await waiting();
    expect(seen.of("status")[0]).toMatchObject({ state: "input-required", keepMs: 310_000 });
    run.extend(60_000);
    rig.time.advance(200_000);
    await settle();
    expect(seen.error).toBeUndefined();
    await approve(approval);
    rig.time.advance(59_000);
    expect(seen.error).toBeUndefined();
    rig.time.advance(2_000);
    expect(seen.error?.code).toBe("DEADLINE_PASSED");
  });

  test("leaves no timer behind", async () => {
    const before = rig.time.pending;
    const { run } = start("{}");
    await waiting();
    run.cancel();
    await settle();
    rig.approvals.close();
    expect(rig.time.pending).toBe(before);
  });
});

describe("what access says", () => {
  beforeEach(() => build());

  test("makes a call wait whose tool declares nothing", async () => {
    const confirm = { effect: "confirm", source: "rule", reason: "night", evidence: "operator" } as const;
    const { seen } = start("{}");
    await settle();
    expect(made()).toHaveLength(1);
    expect(seen.error).toBeUndefined();
    const stage = approveStage(held.options, undefined, undefined);
    const run = held.kernel.kernel.runs.start(
      { ...held.kernel.order("plant.open"), principal: person("agent") },
      new Seen(),
    );
    const pending = stage(
      { ...run.call, signal: run.call.signal, confirm },
      { write: () => true, ready: async () => {} },
      async () => {
        throw new Error("made");
      },
    );
    pending.catch(() => undefined);
    expect(await waiting()).toMatchObject({ reason: "rule", evidence: "operator", tool: "plant.open" });
  });
});
