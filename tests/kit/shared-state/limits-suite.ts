import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Admission,
  type Admitted,
  type Debit,
  MAX_OWN_BUCKETS,
  type SharedState,
  type SlotClaim,
} from "../../../src/contract/index.ts";
import { fresh, joinMember, LONG_MS, SHORT_MS, type SharedStateRig, type StartRig } from "./shared-state-rig.ts";

/** So slow that nothing comes back while a test runs, unless it lets the clock jump. */
const SLOW_PERIOD_MS = 3_600_000;
/** Beyond every jump. */
const FOREVER_MS = 10_000 * SLOW_PERIOD_MS;

function bucket(changes: Partial<Debit> = {}): Debit {
  const key = fresh("bucket");
  return { key, level: "user", capacity: 3, refill: 1, periodMs: SLOW_PERIOD_MS, ttlMs: FOREVER_MS, ...changes };
}

function place(max: number, changes: Partial<SlotClaim> = {}): SlotClaim {
  return { key: fresh("place"), level: "user", max, ...changes };
}

export function limitsSuite(start: StartRig): void {
  let rig: SharedStateRig;
  let ours: string;
  let theirs: string;
  beforeAll(async () => {
    rig = await start();
    [ours, theirs] = [fresh("member"), fresh("member")];
    await rig.here.members.join({ id: ours, address: "" }, FOREVER_MS);
    await rig.there.members.join({ id: theirs, address: "" }, FOREVER_MS);
  });
  afterAll(() => rig.close());

  const admission = (changes: Partial<Admission> = {}): Admission => ({
    call: fresh("call"),
    member: ours,
    facts: "{}",
    ttlMs: LONG_MS,
    ...changes,
  });
  const admit = (changes: Partial<Admission>, state: SharedState = rig.here) =>
    state.calls.admit(admission({ member: state === rig.here ? ours : theirs, ...changes }));
  const openOf = (admitted: readonly Admitted[]) => admitted.filter(({ type }) => type === "open").length;

  describe("buckets", () => {
    test("a bucket lets as many through as it holds, whoever asks, and says when the next may come [AP-152]", async () => {
      const debits = [bucket({ refill: 2, periodMs: SLOW_PERIOD_MS })];
      const [{ key }] = debits as [Debit];
      expect(await admit({ debits })).toEqual({ type: "open" });
      expect(await admit({ debits }, rig.there)).toEqual({ type: "open" });
      expect(await admit({ debits })).toEqual({ type: "open" });
      const refused = await admit({ debits }, rig.there);
      expect(refused).toMatchObject({ type: "limited", of: "bucket", level: "user", key });
      const { retryMs = 0 } = refused as { retryMs?: number };
      expect(retryMs).toBeGreaterThan(SLOW_PERIOD_MS / 2 - 60_000);
      expect(retryMs).toBeLessThanOrEqual(SLOW_PERIOD_MS / 2);
    });

    test("100 that come at once find exactly the 20 tokens that there are [AP-154]", async () => {
      const debits = [bucket({ capacity: 20 })];
      const asked = Array.from({ length: 100 }, (_, index) =>
        admit({ debits }, index % 2 === 0 ? rig.here : rig.there),
      );
      expect(openOf(await Promise.all(asked))).toBe(20);
    });

    test("a token is back when its time has passed, and not before", async () => {
      // 7 in 3 minutes: no token is due at a whole ms.
      const debits = [bucket({ capacity: 2, refill: 7, periodMs: SLOW_PERIOD_MS })];
      expect(openOf([await admit({ debits }), await admit({ debits })])).toBe(2);
      const first = await admit({ debits });
      const { retryMs = 0 } = first as { retryMs?: number };
      await rig.jump(retryMs - 1_000);
      expect(await admit({ debits })).toMatchObject({ type: "limited" });
      await rig.jump(1_000);
      expect(await admit({ debits })).toEqual({ type: "open" });
      expect(await admit({ debits })).toMatchObject({ type: "limited" });
    });

    test("what comes back never exceeds what a bucket holds, however long nobody comes", async () => {
      const debits = [bucket({ capacity: 3 })];
      await admit({ debits });
      await rig.jump(SLOW_PERIOD_MS * 50);
      const asked = await Promise.all(Array.from({ length: 10 }, () => admit({ debits })));
      expect(openOf(asked)).toBe(3);
    });

    test("a clock that is set back gives nothing, takes nothing away, and goes on from there", async () => {
      const debits = [bucket({ capacity: 2 })];
      await admit({ debits });
      await rig.jump(-SLOW_PERIOD_MS * 10);
      expect(await admit({ debits })).toEqual({ type: "open" });
      expect(await admit({ debits })).toMatchObject({ type: "limited" });
      await rig.jump(SLOW_PERIOD_MS);
      expect(openOf([await admit({ debits }), await admit({ debits })])).toBe(1);
      await rig.jump(SLOW_PERIOD_MS * 9);
    });

    test("a budget never comes back, and nobody can say when", async () => {
      const debits = [bucket({ capacity: 2, refill: 0 })];
      expect(openOf([await admit({ debits }), await admit({ debits })])).toBe(2);
      await rig.jump(SLOW_PERIOD_MS * 10);
      const [{ key }] = debits as [Debit];
      expect(await admit({ debits })).toEqual({ type: "limited", of: "bucket", level: "user", key });
    });

    test("of what a tenant sets for itself only so much is remembered, and nothing else is forgotten for it", async () => {
      const tenant = fresh("tenant");
      const once = { capacity: 1, refill: 0, tenant };
      const [platforms, others] = [bucket(once), bucket({ ...once, tenant: fresh("tenant"), isOwn: true })];
      const [first, later] = [bucket({ ...once, isOwn: true }), bucket({ ...once, isOwn: true })];
      for (const debit of [platforms, others, first])
        expect(await admit({ debits: [debit] })).toEqual({ type: "open" });
      await rig.jump(SHORT_MS);
      for (let made = 0; made < MAX_OWN_BUCKETS - 1; made += 1_000) {
        const debits = Array.from({ length: Math.min(1_000, MAX_OWN_BUCKETS - 1 - made) }, () =>
          bucket({ ...once, isOwn: true }),
        );
        expect(await admit({ debits })).toEqual({ type: "open" });
      }
      expect(await admit({ debits: [first] })).toMatchObject({ type: "limited" });
      expect(await admit({ debits: [later] })).toEqual({ type: "open" });
      expect(await admit({ debits: [first] })).toEqual({ type: "open" });
      for (const debit of [platforms, others, later])
        expect(await admit({ debits: [debit] })).toMatchObject({ type: "limited" });
    });

    test("a call may cost more than one token, and leaves those that are too few for it", async () => {
      const key = fresh("bucket");
      const costing = (amount: number) => [bucket({ key, capacity: 5, refill: 0, amount })];
      expect(await admit({ debits: costing(4) })).toEqual({ type: "open" });
      expect(await admit({ debits: costing(2) })).toMatchObject({ type: "limited" });
      expect(await admit({ debits: costing(1) })).toEqual({ type: "open" });
    });

    test("a bucket that is made larger keeps what was taken from it", async () => {
      const key = fresh("bucket");
      const holding = (capacity: number) => [bucket({ key, capacity })];
      expect(openOf([await admit({ debits: holding(2) }), await admit({ debits: holding(2) })])).toBe(2);
      expect(await admit({ debits: holding(2) })).toMatchObject({ type: "limited" });
      expect(openOf([await admit({ debits: holding(3) }), await admit({ debits: holding(3) })])).toBe(1);
    });

    test("the largest bucket there may be is exact", async () => {
      const capacity = 100_000_000;
      const key = fresh("bucket");
      const costing = (amount: number) => [bucket({ key, capacity, amount, periodMs: 86_400_000 })];
      expect(await admit({ debits: costing(capacity - 1) })).toEqual({ type: "open" });
      expect(openOf([await admit({ debits: costing(1) }), await admit({ debits: costing(1) })])).toBe(1);
    });
  });

  describe("several at once", () => {
    test("all are taken from or none, and the first of the order that is empty is named [AP-150] [AP-151]", async () => {
      const full = bucket({ level: "primitive", capacity: 2, refill: 0 });
      const spent = bucket({ level: "tenant", capacity: 1, refill: 0 });
      const later = bucket({ level: "global", capacity: 1, refill: 0 });
      await admit({ debits: [spent, later] });
      const debits = [full, spent, later];
      expect(await admit({ debits })).toMatchObject({ type: "limited", level: "tenant", key: spent.key });
      expect(await admit({ debits })).toMatchObject({ type: "limited", level: "tenant" });
      expect(openOf([await admit({ debits: [full] }), await admit({ debits: [full] })])).toBe(2);
    });

    test("a full place takes no token, an empty bucket no place, and the more specific of both is named", async () => {
      const rate = bucket({ level: "user", capacity: 2, refill: 0 });
      const slot = place(1, { level: "primitive" });
      const first = admission({ debits: [rate], slots: [slot] });
      expect(await rig.here.calls.admit(first)).toEqual({ type: "open" });
      const refused = { type: "limited", of: "places", level: "primitive" };
      expect(await admit({ debits: [rate], slots: [slot] })).toMatchObject(refused);
      await rig.here.calls.settle({ call: first.call, member: ours, slots: [slot] });
      expect(await admit({ debits: [rate] })).toEqual({ type: "open" });
      const empty = { type: "limited", of: "bucket", level: "user" };
      expect(await admit({ debits: [rate], slots: [slot] })).toMatchObject(empty);
      expect(await admit({ slots: [slot] })).toEqual({ type: "open" });
      expect(await admit({ debits: [rate], slots: [slot] })).toMatchObject(refused);
    });
  });

  describe("places", () => {
    test("no more are held at once than there are, and each is free when its call is settled", async () => {
      const slots = [place(3)];
      const asked = Array.from({ length: 20 }, (_, index) => admission({ slots, member: index % 2 ? ours : theirs }));
      const admitted = await Promise.all(
        asked.map((one, index) => (index % 2 ? rig.here : rig.there).calls.admit(one)),
      );
      expect(openOf(admitted)).toBe(3);
      const held = asked.find((_, index) => admitted[index]?.type === "open") as Admission;
      const { call, member } = held;
      await rig.there.calls.settle({ call, member, slots });
      await rig.there.calls.settle({ call, member, slots });
      expect(openOf([await admit({ slots }), await admit({ slots })])).toBe(1);
    });

    test("the places of a process that is gone are free when its lease is over", async () => {
      const gone = fresh("member");
      await rig.here.members.join({ id: gone, address: "" }, SHORT_MS);
      const slots = [place(2)];
      expect(openOf([await admit({ slots, member: gone }), await admit({ slots })])).toBe(2);
      await rig.elapse(SHORT_MS * 2);
      expect(openOf([await admit({ slots }, rig.there), await admit({ slots }, rig.there)])).toBe(1);
    });

    test("a call that is settled after its process was taken for dead frees nobody else's place", async () => {
      const gone = await joinMember(rig.here);
      const slots = [place(1)];
      const old = admission({ slots, member: gone });
      await rig.here.calls.admit(old);
      await rig.here.members.leave(gone);
      expect(await admit({ slots }, rig.there)).toEqual({ type: "open" });
      await rig.here.calls.settle({ call: old.call, member: gone, slots });
      expect(await admit({ slots })).toMatchObject({ type: "limited", of: "places" });
    });

    test("a call that was held takes its place later, in a trip of its own", async () => {
      const slots = [place(1)];
      const first = admission();
      expect(await rig.here.calls.admit(first)).toEqual({ type: "open" });
      expect(await rig.here.calls.charge({ call: first.call, member: ours, slots })).toBeUndefined();
      const second = { call: fresh("call"), member: theirs, slots };
      expect(await rig.there.calls.charge(second)).toMatchObject({ type: "limited", of: "places" });
      await rig.here.calls.settle({ call: first.call, member: ours, slots });
      expect(await rig.there.calls.charge(second)).toBeUndefined();
    });
  });

  describe("named calls", () => {
    const named = (key: string, changes: Partial<Admission>) =>
      admission({ once: { key, digest: "d", ttlMs: LONG_MS }, ...changes });

    test("a repeat is not charged: while the call runs, when it is done, and to who asks again", async () => {
      const [key, debits] = [fresh("key"), [bucket({ capacity: 2, refill: 0 })]];
      const first = named(key, { debits });
      expect(await rig.here.calls.admit(first)).toEqual({ type: "open" });
      expect(await rig.here.calls.admit(first)).toEqual({ type: "open" });
      expect(await rig.there.calls.admit(named(key, { debits }))).toMatchObject({ type: "running" });
      await rig.here.calls.settle({ call: first.call, once: { key, answer: "{}", ttlMs: LONG_MS } });
      expect(await rig.there.calls.admit(named(key, { debits }))).toMatchObject({ type: "done" });
      expect(openOf([await admit({ debits }), await admit({ debits })])).toBe(1);
    });

    test("one that is refused leaves its name free", async () => {
      const [key, slots] = [fresh("key"), [place(1)]];
      const holder = admission({ slots });
      await rig.here.calls.admit(holder);
      const refused = named(key, { slots });
      expect(await rig.here.calls.admit(refused)).toMatchObject({ type: "limited" });
      await rig.here.calls.settle({ call: holder.call, member: ours, slots });
      expect(await rig.there.calls.admit(named(key, { slots, member: theirs }))).toEqual({ type: "open" });
    });
  });
}
