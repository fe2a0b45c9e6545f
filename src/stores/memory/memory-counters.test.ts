import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { type Debit, LIMIT_LEVELS } from "../../contract/index.ts";
import { MemoryCounters } from "./memory-counters.ts";

function rig(maxBuckets: number) {
  const clock = new ManualTime();
  const counters = new MemoryCounters({ clock, isAlive: () => true, maxBuckets });
  const bucket = (key: string): Debit => ({
    key,
    level: "user",
    capacity: 1,
    refill: 1,
    periodMs: 60_000,
    ttlMs: 60_000,
  });
  return { clock, counters, take: (key: string) => counters.take({ call: "c", member: "m", debits: [bucket(key)] }) };
}

test("no more buckets are remembered than may be, and those go first that were not used for longest", () => {
  const { clock, counters, take } = rig(3);
  for (const key of ["a", "b", "c"]) take(key);
  clock.advance(60_000);
  expect(take("a")).toBeUndefined();
  for (const key of ["d", "e"]) take(key);
  expect(counters.size).toBe(3);
  expect(take("a")).toMatchObject({ type: "limited" });
});

describe("a budget", () => {
  const budget = (key: string, more: Partial<Debit> = {}): Debit => ({
    key,
    level: "user",
    capacity: 1,
    refill: 0,
    periodMs: 1,
    ttlMs: 120_000,
    ...more,
  });

  function spender(maxBuckets: number) {
    const { clock, counters, take } = rig(maxBuckets);
    const spend = (...debits: Debit[]) => counters.take({ call: "c", member: "m", debits });
    return { clock, counters, take, spend };
  }

  test("stays spent however many buckets are made after it", () => {
    const { take, spend } = spender(3);
    expect(spend(budget("spent"))).toBeUndefined();
    for (let index = 0; index < 10; index++) {
      expect(take(`rate${index}`)).toBeUndefined();
      expect(spend(budget(`session${index}`, { isOfSession: true }))).toBeUndefined();
    }
    expect(spend(budget("spent"))).toMatchObject({ type: "limited", key: "spent" });
  });

  test("that cannot be remembered is refused, and nothing is taken with it", () => {
    const { counters, spend } = spender(2);
    for (const key of ["a", "b"]) spend(budget(key, { capacity: 2 }));
    const rate = budget("rate", { refill: 1, periodMs: 60_000 });
    expect(() => spend(rate, budget("c"))).toThrow(expect.objectContaining({ code: "OVERLOADED" }));
    expect(counters.size).toBe(2);
    expect(spend(rate, budget("a", { capacity: 2 }))).toBeUndefined();
    expect(spend(budget("a", { capacity: 2 }))).toMatchObject({ type: "limited" });
  });

  test("of one tenant leaves room for those of others, and says whose there are too many", () => {
    const { clock, spend } = spender(4);
    const of = (tenant: string, key: string) => budget(key, { tenant });
    for (const key of ["a", "b"]) expect(spend(of("acme", key))).toBeUndefined();
    expect(() => spend(of("acme", "c"))).toThrow(/of this tenant/);
    expect(spend(of("globex", "d"))).toBeUndefined();
    expect(spend(budget("e"))).toBeUndefined();
    expect(spend(of("acme", "a"))).toMatchObject({ type: "limited" });
    expect(() => spend(budget("f"))).toThrow(/counts 4 budgets/);
    clock.advance(120_000);
    for (const key of ["g", "h"]) expect(spend(of("acme", key))).toBeUndefined();
  });

  test("that a tenant has set for itself takes nobody's room, and goes where that tenant has most", () => {
    const { counters, take, spend } = spender(3);
    const own = (tenant: string, key: string) => budget(key, { tenant, isOwn: true });
    spend(budget("platform's"));
    take("rate");
    expect(spend(own("globex", "g"))).toBeUndefined();
    for (let index = 0; index < 20; index++) expect(spend(own("acme", `a${index}`))).toBeUndefined();
    expect(counters.size).toBe(5);
    expect(spend(budget("new"))).toBeUndefined();
    expect(spend(budget("platform's"))).toMatchObject({ type: "limited" });
    expect(take("rate")).toMatchObject({ type: "limited" });
    expect(spend(own("globex", "g"))).toMatchObject({ type: "limited" });
    expect(spend(own("acme", "a19"))).toMatchObject({ type: "limited" });
    expect(spend(own("acme", "a0"))).toBeUndefined();
  });

  test("makes room when its time is over", () => {
    const { clock, spend } = spender(1);
    spend(budget("a"));
    expect(() => spend(budget("b"))).toThrow();
    clock.advance(120_000);
    expect(spend(budget("b"))).toBeUndefined();
  });
});

test("a bucket that is full again takes no room once others come", () => {
  const { clock, counters, take } = rig(1_000);
  for (let index = 0; index < 100; index++) take(`k${index}`);
  expect(counters.size).toBe(100);
  clock.advance(120_000);
  take("new");
  expect(counters.size).toBe(1);
});

test("what is refused is not remembered", () => {
  const { counters } = rig(10);
  const slots = [{ key: "p", level: "user" as const, max: 0 }];
  const debits: Debit[] = [{ key: "x", level: "user", capacity: 1, refill: 0, periodMs: 1, ttlMs: 1_000 }];
  expect(counters.take({ call: "c", member: "m", debits, slots })).toMatchObject({ of: "places" });
  expect(counters.size).toBe(0);
});

test("of all that are empty, the one of the most special level is named, and nothing is taken of the others [AP-150] [AP-151]", () => {
  const counters = new MemoryCounters({ clock: new ManualTime(), isAlive: () => true });
  const debits = LIMIT_LEVELS.map(
    (level): Debit => ({ key: level, level, capacity: 1, refill: 0, periodMs: 1, ttlMs: 1_000 }),
  );
  const take = (some: readonly Debit[]) => counters.take({ call: "c", member: "m", debits: some });
  for (const debit of debits.toReversed()) {
    expect(take([debit])).toBeUndefined();
    expect(take(debits)).toMatchObject({ type: "limited", level: debit.level });
  }
});
