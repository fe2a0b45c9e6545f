/** What a yes that a call has used must still be worth when the call is sent: in line, once more, and while the use is written down. */
import { beforeEach, describe, expect, test } from "vitest";
import { person } from "../../tests/kit/approval-rig.ts";
import { HeldRig, settle } from "../../tests/kit/held-rig.ts";
import { testKernel } from "../../tests/kit/test-kernel.ts";
import { type Call, GatewayError, payload, type Stage } from "../contract/index.ts";
import type { Gate } from "../mechanisms/approvals/index.ts";
import { approveStage } from "./approve-stage.ts";

const GATE: Gate = { reason: "irreversible_mutable", evidence: "external_proof", capability: "{}" };

let held: HeldRig;
beforeEach(() => {
  held = new HeldRig();
});

const pass: Stage = (call, out, next) => next(call, out);

const WRITTEN = '{"name":"open","description":"Opens a valve.","inputSchema":{"type":"object"}}';

/** The server says this of its tool from now on. */
function offer(definition: string): void {
  const primitives = [{ kind: "tool", name: "open", definition: payload(definition), repeatable: true }] as const;
  void held.provider.host?.offer("shared", [{ kind: "tool", primitives, extras: "" }]);
}

describe("an approved call that waits in line for its server", () => {
  const operator = person("op", { user: "op", role: "operator" });

  /** The yes is used, and a call before it has the only slot. */
  async function inLine() {
    const { time } = held.rig;
    const stage = approveStage(held.options, "plant.open", { ...GATE, evidence: "operator" });
    const isHeld = (call: Call) => JSON.stringify(call.input.value()).includes("held");
    const stages: (() => Stage)[] = [() => (call, out, next) => (isHeld(call) ? stage : pass)(call, out, next)];
    held.kernel = await testKernel([held.provider], { stages, clock: time, timers: time, concurrency: 1 });
    held.rig.offered = (target, session) => held.kernel.kernel.find(target, session);
    offer(WRITTEN);
    const first = held.start("{}");
    await settle();
    const { seen, run } = held.start('{"held":1}');
    const approval = await held.waiting();
    await held.rig.decider.decideAs(operator, approval.id, "approve");
    await settle();
    expect(await held.rig.rows.get(approval.id)).toMatchObject({ state: "consumed" });
    const free = async () => {
      held.provider.calls.get(first.run.id)?.settle();
      await settle();
    };
    return { seen, run, free };
  }

  test("is sent with the yes that it has used", async () => {
    const { run, free } = await inLine();
    await free();
    expect(held.provider.calls.has(run.id)).toBe(true);
  });

  const away = () => {
    throw new GatewayError("STATE_UNAVAILABLE", { message: "away" });
  };

  const revoke = (isRevoked: () => boolean) => () => void Object.assign(held.rig, { isRevoked });
  const move = () => {
    held.grounds = "2";
  };
  const CHANGED: readonly [string, () => void, string][] = [
    ["whoever approved it was blocked", revoke(() => true), "was blocked since"],
    ["that cannot be looked up", revoke(away), "away"],
    ["the tool says something else of itself", () => offer(WRITTEN.replace("a valve", "all")), "definition changed"],
    ["the tool is gone", () => void held.provider.host?.offer("shared", []), "definition changed"],
    ["other keys count, or its server is elsewhere", move, "policy changed"],
  ];

  test.each(CHANGED)("is not sent when %s by then", async (_what, change, said) => {
    const { seen, run, free } = await inLine();
    change();
    await free();
    expect(held.provider.calls.has(run.id)).toBe(false);
    expect(seen.error?.message).toContain(said);
  });

  test.each([
    ["comes to be flagged by us", '"x-mcpax-safety":"irreversible_mutable","x-mcpax-gated":true'],
    ["comes to wait by our settings", '"x-mcpax-gated":true'],
  ])("is sent when its tool only %s", async (_how, flags) => {
    const { run, free } = await inLine();
    offer(`${WRITTEN.slice(0, -1)},"_meta":{${flags}}}`);
    await free();
    expect(held.provider.calls.has(run.id)).toBe(true);
  });

  describe("and is lost with its server", () => {
    async function lost(change: () => void) {
      const { seen, run, free } = await inLine();
      await free();
      const sent = held.provider.calls.get(run.id);
      change();
      sent?.crash(new GatewayError("OUTCOME_UNKNOWN"));
      await settle();
      return { seen, run };
    }

    test.each(CHANGED)("is not sent once more when %s by then", async (_what, change, said) => {
      const { seen, run } = await lost(change);
      expect(run.call.timing?.repeats).toBe(0);
      expect(seen.error?.message).toContain(said);
    });

    test("tells its caller that it was sent", async () => {
      const { seen } = await lost(move);
      expect(seen.error).toMatchObject({
        code: "CONFIRMATION_REQUIRED",
        message: expect.stringMatching(/was called, but its server was lost.*policy changed\. Call again/),
      });
    });

    test("is sent once more while the yes holds", async () => {
      const { seen, run } = await lost(() => undefined);
      expect([run.call.timing?.repeats, seen.error]).toEqual([1, undefined]);
    });
  });
});

describe("a call whose yes is written down as used while something changes", () => {
  /** It happens in the store, before the store has answered. */
  async function usedWhile(change: () => void) {
    const { time } = held.rig;
    const stages = [() => approveStage(held.options, "plant.open", GATE)];
    held.kernel = await testKernel([held.provider], { stages, clock: time, timers: time, timeoutMs: 10_000 });
    held.rig.offered = (target, session) => held.kernel.kernel.find(target, session);
    offer(WRITTEN);
    const { seen } = held.start("{}");
    const approval = await held.waiting();
    const { rows } = held.rig;
    const write = rows.write.bind(rows);
    rows.write = (changes) => {
      if (changes.some((one) => one.table === "approval" && one.type === "move" && one.to === "consumed")) change();
      return write(changes);
    };
    const approving = held.approve(approval);
    await settle();
    held.rig.time.advance(1_000);
    await approving;
    expect(await rows.get(approval.id)).toMatchObject({ state: "consumed" });
    return seen;
  }

  test.each<[string, () => void]>([
    ["where its server is", () => Object.assign(held, { grounds: "2" })],
    ["what its tool says of itself", () => offer(WRITTEN.replace("a valve", "all"))],
  ])("is not sent: %s", async (_what, change) => {
    const seen = await usedWhile(change);
    expect(held.made).toEqual([]);
    expect(seen.error).toMatchObject({ code: "CONFIRMATION_REQUIRED" });
  });

  test("is sent where nothing has", async () => {
    await usedWhile(() => undefined);
    expect(held.made).toHaveLength(1);
  });
});
