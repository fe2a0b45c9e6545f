import { describe, expect, test } from "vitest";
import { ByteBudget, GatheredBytes, HeldMessage, type Holder, holderOf, SMALL_BYTES } from "./byte-budget.ts";
import { ANONYMOUS, identityOf, LOCAL, PEER, type Principal } from "./principal.ts";

/** Takes what fits, a byte at a time. */
function fill(budget: ByteBudget, holder: Holder): number {
  let taken = 0;
  for (; budget.fits(holder, 1); taken++) budget.take(holder, 1);
  return taken;
}

describe("ByteBudget", () => {
  test("gives half of it to one alone, and leaves room for whoever comes next", () => {
    const budget = new ByteBudget(1_000);
    expect(fill(budget, { name: "a" })).toBe(500);
    expect(fill(budget, { name: "b" })).toBe(250);
    expect(budget.fits({ name: "c" }, 100)).toBe(true);
    expect(budget.isFull).toBe(false);
  });

  test("holds a group to the share of one, however many are in it", () => {
    const budget = new ByteBudget(1_000);
    const taken = Array.from({ length: 20 }, (_, at) => fill(budget, { name: `user ${at}`, group: "tenant" }));
    expect(taken.reduce((sum, one) => sum + one)).toBe(500);
    expect(budget.fits({ name: "other" }, 250)).toBe(true);
  });

  test("knows the most that a holder may have in one go", () => {
    const budget = new ByteBudget(1_000);
    budget.take({ name: "b" }, 100);
    budget.take({ name: "a", group: "g" }, 50);
    for (const holder of [{ name: "a" }, { name: "c", group: "g" }, { name: "new" }]) {
      expect(budget.fits(holder, budget.freeFor(holder))).toBe(true);
      expect(budget.fits(holder, budget.freeFor(holder) + 1)).toBe(false);
    }
    budget.count(2_000);
    expect(budget.freeFor({ name: "new" })).toBe(0);
  });

  test("has nothing left of what was given back", () => {
    const budget = new ByteBudget(1_000);
    const holder = { name: "a", group: "g" };
    budget.take(holder, 300);
    budget.count(20);
    budget.giveBack(holder, 300);
    budget.count(-20);
    expect([budget.held, budget.of("a"), budget.of("g")]).toEqual([0, 0, 0]);
  });

  test("is full when all of it is taken, whoever took it", () => {
    const budget = new ByteBudget(100);
    budget.count(100);
    expect(budget.isFull).toBe(true);
    expect(budget.fits({ name: "a" }, 1)).toBe(false);
  });
});

describe("HeldMessage", () => {
  test("counts once for all who hold it, until the last lets go", () => {
    const budget = new ByteBudget(1_000);
    const message = new HeldMessage(budget, { name: "a" }, 100).hold();
    message.hold();
    expect(budget.held).toBe(100);
    message.letGo();
    expect(budget.held).toBe(100);
    message.letGo();
    expect(budget.held).toBe(0);
    // Somebody still had it.
    message.hold();
    expect(budget.held).toBe(100);
  });
});

describe("GatheredBytes", () => {
  test("counts what is more than small, and not what does not fit", () => {
    const budget = new ByteBudget(4 * SMALL_BYTES);
    const gathered = new GatheredBytes(budget, { name: "a" });
    expect(gathered.set(SMALL_BYTES)).toBe(true);
    expect(budget.held).toBe(0);
    expect(gathered.set(2 * SMALL_BYTES)).toBe(true);
    expect(gathered.set(2 * SMALL_BYTES + 1)).toBe(false);
    expect(budget.held).toBe(2 * SMALL_BYTES);
    gathered.clear();
    expect(budget.held).toBe(0);
  });
});

describe("holderOf", () => {
  const known = (tenant: string, user: string): Principal => ({
    id: `token:${user}`,
    identity: { ...identityOf(LOCAL), tenant, user, proof: "token" },
  });

  test("tells users apart, and holds a tenant to one share", () => {
    expect(holderOf(known("default", "ann"), "1.2.3.4")).toEqual({ name: 'user ["default","ann"]' });
    expect(holderOf(known("acme", "ann"), "1.2.3.4")).toEqual({ name: 'user ["acme","ann"]', group: "tenant acme" });
    expect(holderOf(known("default", ""), "1.2.3.4")).toEqual({ name: "principal token:" });
  });

  test("takes those who are not known by their addresses", () => {
    expect(holderOf(LOCAL, "1.2.3.4")).toEqual({ name: "address 1.2.3.4" });
    expect(holderOf(ANONYMOUS, "1.2.3.4")).toEqual({ name: "address 1.2.3.4", group: "unknown callers" });
    expect(holderOf(PEER, "1.2.3.4")).toEqual({ name: "principal peer" });
  });
});
