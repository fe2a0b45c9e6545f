import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../../tests/kit/quiet.ts";
import { GatewayError, type Member, type SharedState } from "../../contract/index.ts";
import { createMemorySharedState } from "../../stores/memory/index.ts";
import { createMembership, type MembershipOptions } from "./membership.ts";

const LEASE = 900;

/** A store that can be away, or answer only when it is told to. */
function rig(options: Partial<MembershipOptions> = {}) {
  const time = new ManualTime();
  const memory = createMemorySharedState({ clock: time });
  const health = new Set<(isUp: boolean) => void>();
  const used: string[] = [];
  let isUp = true;
  let held: (() => void)[] | undefined;
  async function reach(): Promise<void> {
    if (held) await new Promise<void>((resolve) => held?.push(resolve));
    if (!isUp) throw new GatewayError("STATE_UNAVAILABLE");
  }
  const members: SharedState["members"] = {
    async join(member, leaseMs) {
      used.push(member.id);
      await reach();
      return memory.members.join(member, leaseMs);
    },
    async renew(id, leaseMs) {
      await reach();
      return memory.members.renew(id, leaseMs);
    },
    async leave(id) {
      await reach();
      return memory.members.leave(id);
    },
    find: (id) => memory.members.find(id),
    list: () => memory.members.list(),
  };
  const state: SharedState = {
    ...memory,
    members,
    onHealth(listener) {
      health.add(listener);
      return () => void health.delete(listener);
    },
  };
  const events: string[] = [];
  const meter = new KeptMeter();
  const membership = createMembership({
    ...{ state, clock: time, timers: time, log: new KeptLog(), meter },
    ...{ address: "127.0.0.1:1", leaseMs: LEASE },
    ...options,
  });
  membership.onLost(() => events.push(`lost ${membership.mayWrite()}`));
  membership.onJoined(() => events.push("joined"));
  return {
    time,
    memory,
    membership,
    events,
    used,
    meter,
    health,
    setUp(value: boolean) {
      isUp = value;
      for (const listener of health) listener(value);
    },
    hold() {
      held = [];
    },
    release() {
      const all = held ?? [];
      held = undefined;
      for (const each of all) each();
    },
    /** Moves in small steps, so that what is awaited between two timers happens in its order. */
    async pass(ms: number) {
      for (let at = 0; at < ms; at += 10) {
        time.advance(Math.min(10, ms - at));
        await settle();
      }
    },
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

describe("a membership", () => {
  test("begins a lease under an id of its own and keeps it", async () => {
    const { membership, memory, pass, events } = rig();
    expect(membership.isValid()).toBe(false);
    await membership.open();
    const { id } = membership.self;
    expect(await memory.members.find(id)).toEqual({ id, address: "127.0.0.1:1" });
    await pass(20 * LEASE);
    expect(membership.isValid()).toBe(true);
    expect(await memory.members.find(id)).toEqual(membership.self);
    expect(events).toEqual(["joined"]);
  });

  test("says at the start that the store is away, and may be opened again", async () => {
    const { membership, setUp, used, time } = rig();
    setUp(false);
    await expect(membership.open()).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect(membership.mayWrite()).toBe(true);
    setUp(true);
    await membership.open();
    expect(new Set(used).size).toBe(2);
    await membership.leave();
    expect(time.pending).toBe(0);
  });

  test("outlives an outage that is shorter than the lease", async () => {
    const { membership, setUp, pass, events } = rig();
    await membership.open();
    const { id } = membership.self;
    await pass(LEASE / 3);
    setUp(false);
    await pass(LEASE / 2);
    setUp(true);
    await pass(LEASE);
    expect(membership.isValid()).toBe(true);
    expect(membership.self.id).toBe(id);
    expect(events).toEqual(["joined"]);
  });

  test("is over with the lease when the store stays away, and begins anew under another id when it is back", async () => {
    const { membership, setUp, pass, events, meter, memory } = rig();
    await membership.open();
    const { id } = membership.self;
    setUp(false);
    await pass(LEASE - 10);
    expect(membership.isValid()).toBe(true);
    expect(events).toEqual(["joined"]);
    await pass(20);
    expect(membership.isValid()).toBe(false);
    expect(events).toEqual(["joined", "lost false"]);
    expect(meter.of("isthmus_memberships_lost_total late")).toBe(1);
    await pass(5 * LEASE);
    expect(membership.mayWrite()).toBe(true); // whatever is open now was opened after the loss
    setUp(true);
    await settle();
    expect(events).toEqual(["joined", "lost false", "joined"]);
    expect(membership.isValid()).toBe(true);
    expect(membership.self.id).not.toBe(id);
    expect(await memory.members.find(membership.self.id)).toEqual(membership.self);
  });

  test("never joins twice under one id, not even after an attempt that failed", async () => {
    const { membership, setUp, pass, used } = rig();
    await membership.open();
    setUp(false);
    await pass(4 * LEASE);
    setUp(true);
    await settle();
    expect(used.length).toBeGreaterThan(5);
    expect(new Set(used).size).toBe(used.length);
  });

  test("counts from before a renewal was sent, however late its answer comes", async () => {
    const { membership, time, hold, release, memory } = rig();
    await membership.open();
    const { id } = membership.self;
    hold();
    time.advance(LEASE / 3); // the renewal is under way
    time.advance(LEASE / 2);
    release();
    await settle();
    expect(membership.self.id).toBe(id);
    // The store took it late and believes in it until later than we do.
    hold();
    time.advance(LEASE / 2 - 10);
    expect(membership.isValid()).toBe(true);
    time.advance(20);
    expect(membership.isValid()).toBe(false);
    expect(await memory.members.find(id)).toBeDefined();
  });

  test("is over when the store says so, although our clock does not", async () => {
    const { membership, memory, pass, events, meter } = rig();
    await membership.open();
    const { id } = membership.self;
    await memory.members.leave(id);
    await pass(LEASE / 3 + 10);
    expect(events[1]).toMatch(/^lost/);
    expect(meter.of("isthmus_memberships_lost_total taken")).toBe(1);
    expect(membership.self.id).not.toBe(id);
    expect(membership.isValid()).toBe(true);
  });

  test("lets nothing be written after the lease until all have heard of it, in whatever order things run", async () => {
    // A process that was stopped: its clock has moved on, and no timer has fired yet.
    const clock = { at: 0, now: () => clock.at };
    const { membership, events } = rig({ clock, timers: { after: () => ({ cancel() {} }) } });
    await membership.open();
    const { id } = membership.self;
    clock.at = LEASE - 1;
    expect(membership.mayWrite()).toBe(true);
    clock.at = LEASE;
    expect(membership.mayWrite()).toBe(false);
    expect(membership.mayWrite()).toBe(false);
    expect(events).toEqual(["joined"]); // whoever asks is in the middle of something
    await settle();
    expect(events).toEqual(["joined", "lost false", "joined"]);
    expect(membership.mayWrite()).toBe(true);
    expect(membership.self.id).not.toBe(id);
  });

  test("tells the others although one listener throws", async () => {
    const { membership, time, events } = rig();
    membership.onJoined(() => {
      throw new Error("broken");
    });
    const late: Member[] = [];
    membership.onJoined((self) => late.push(self));
    await membership.open();
    expect(late).toEqual([membership.self]);
    expect(events).toEqual(["joined"]);
    await membership.leave();
    expect(time.pending).toBe(0);
  });

  test("leaves for good", async () => {
    const { membership, memory, pass, time, events, health } = rig();
    await membership.open();
    const { id } = membership.self;
    await membership.leave();
    await membership.leave();
    expect(await memory.members.find(id)).toBeUndefined();
    expect(membership.isValid()).toBe(false);
    expect(membership.mayWrite()).toBe(true);
    await pass(3 * LEASE);
    expect(events).toEqual(["joined"]);
    expect([time.pending, health.size]).toEqual([0, 0]);
  });

  test("leaves behind nothing when it leaves while it joins", async () => {
    const { membership, memory, hold, release } = rig();
    hold();
    const opened = membership.open().catch((error: unknown) => error);
    const left = membership.leave();
    release();
    await left;
    expect(await opened).toMatchObject({ code: "STATE_UNAVAILABLE" });
    await settle();
    expect(await memory.members.list()).toEqual([]);
  });

  test("alone, does not end however long the process stands still", async () => {
    const { membership, memory, time, events } = rig({ isAlone: true });
    await membership.open();
    const { self } = membership;
    expect(time.pending).toBe(0); // nothing to renew
    time.advance(1_000 * LEASE);
    expect([membership.isValid(), membership.mayWrite()]).toEqual([true, true]);
    await settle();
    expect(await memory.members.find(self.id)).toEqual(membership.self);
    expect(events).toEqual(["joined"]);
    await membership.leave();
    expect(await memory.members.find(self.id)).toBeUndefined();
  });
});
