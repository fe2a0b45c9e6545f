import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import type { Admission, Debit, SharedState, SlotClaim } from "../../contract/index.ts";
import { GatewayError } from "../../contract/index.ts";
import { createMemorySharedState, MemoryCounters } from "../../stores/memory/index.ts";
import { LocalShare } from "./local-share.ts";
import { SharedDesk } from "./shared-desk.ts";

const RATE: Debit = { key: "r", level: "user", capacity: 7, refill: 3, periodMs: 3_000, ttlMs: 60_000 };
const BUDGET: Debit = { ...RATE, key: "b", refill: 0 };
const PLACES: SlotClaim = { key: "p", level: "user", max: 4 };

/** A store that can go away, and forget to answer. */
function rig(members: number | undefined = 3) {
  const clock = new ManualTime();
  const store = createMemorySharedState({ clock });
  const health = { isUp: true, answers: true };
  const listeners = new Set<(isUp: boolean) => void>();
  const trips: string[] = [];
  const trip = async <T>(name: string, there: () => Promise<T>): Promise<T> => {
    trips.push(name);
    if (!health.isUp) throw new GatewayError("STATE_UNAVAILABLE");
    const got = await there();
    if (!health.answers) throw new GatewayError("STATE_UNAVAILABLE");
    return got;
  };
  const calls: SharedState["calls"] = {
    admit: (admission) => trip("admit", () => store.calls.admit(admission)),
    settle: (settlement) => trip("settle", () => store.calls.settle(settlement)),
    charge: (charge) => trip("charge", () => store.calls.charge(charge)),
    openOf: (session) => store.calls.openOf(session),
  };
  const count: { members: number | undefined } = { members };
  const local = new MemoryCounters({ clock, isAlive: () => true });
  const desk = new SharedDesk(
    {
      calls,
      get isUp() {
        return health.isUp;
      },
      onHealth(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    new LocalShare(local, () => count.members),
    clock,
  );
  let last = 0;
  const admission = (more: Partial<Admission>): Admission => ({
    call: `c${++last}`,
    member: "m",
    facts: "",
    ttlMs: 1_000,
    ...more,
  });
  const set = (isUp: boolean) => {
    health.isUp = isUp;
    for (const listener of listeners) listener(isUp);
  };
  const goAway = () => {
    set(false);
    clock.advance(2_000);
  };
  const passed = async (times: number, more: Partial<Admission>) => {
    let open = 0;
    for (let index = 0; index < times; index++) {
      await desk.admit(admission(more)).then(
        () => open++,
        (error: GatewayError) => expect(error.code).toBe("LIMITED"),
      );
    }
    return open;
  };
  return { clock, store, desk, health, trips, count, admission, set, goAway, passed, listeners };
}

async function joined() {
  const made = rig();
  await made.store.members.join({ id: "m", address: "" }, 1e9);
  return made;
}

describe("while the store is there", () => {
  test("a call makes two trips, and is told which level refuses it and when to come again [AP-187]", async () => {
    const { desk, admission, trips } = await joined();
    const open = admission({ debits: [{ ...RATE, capacity: 1 }], slots: [PLACES] });
    await desk.admit(open);
    desk.settle(open);
    expect(trips).toEqual(["admit", "settle"]);
    await expect(desk.admit(admission({ debits: [{ ...RATE, capacity: 1 }] }))).rejects.toMatchObject({
      code: "LIMITED",
      message: "The rate limit of this user is reached. Try again in 1 s.",
      details: { level: "user", retryAfterMs: 1_000 },
    });
  });

  test("places are given back", async () => {
    const { desk, admission, passed } = await joined();
    const held = Array.from({ length: 4 }, () => admission({ slots: [PLACES] }));
    for (const one of held) await desk.admit(one);
    expect(await passed(1, { slots: [PLACES] })).toBe(0);
    desk.settle(held[0] as Admission);
    expect(await passed(2, { slots: [PLACES] })).toBe(1);
  });
});

describe("while the store is away", () => {
  test("nobody is let through by guess before it is sure that it is away, and it counts on when it was only slow", async () => {
    const { clock, desk, set, admission, passed } = await joined();
    expect(await passed(3, { debits: [RATE] })).toBe(3);
    set(false);
    clock.advance(500);
    await expect(desk.admit(admission({ debits: [RATE] }))).rejects.toMatchObject({
      code: "STATE_UNAVAILABLE",
      details: { retryAfterMs: 1_500 },
    });
    set(true);
    expect(await passed(20, { debits: [RATE] })).toBe(4);
  });

  test("each process lets its share through, rounded down, and what comes back is divided exactly", async () => {
    const { clock, goAway, passed, trips } = await joined();
    goAway();
    expect(await passed(20, { debits: [RATE] })).toBe(2);
    // 3 in 3 s for 3 processes: one in 3 s.
    clock.advance(2_999);
    expect(await passed(1, { debits: [RATE] })).toBe(0);
    clock.advance(1);
    expect(await passed(2, { debits: [RATE] })).toBe(1);
    expect(trips).toEqual([]);
  });

  test("nobody's share is nothing", async () => {
    const { goAway, passed } = await joined();
    goAway();
    expect(await passed(5, { debits: [{ ...RATE, capacity: 2 }] })).toBe(1);
    expect(await passed(5, { slots: [{ ...PLACES, max: 2 }] })).toBe(1);
  });

  test("places that the store has given count among those of the share", async () => {
    const { goAway, passed, count } = await joined();
    count.members = 2;
    expect(await passed(1, { slots: [PLACES] })).toBe(1);
    goAway();
    expect(await passed(5, { slots: [PLACES] })).toBe(1);
  });

  test("nothing is taken from a budget, because nobody knows what is left of it", async () => {
    const { desk, goAway, admission } = await joined();
    goAway();
    await expect(desk.admit(admission({ debits: [RATE, BUDGET] }))).rejects.toMatchObject({
      code: "STATE_UNAVAILABLE",
    });
  });

  test("nobody knows a share who does not know how many there are: what is limited is refused, and nothing else", async () => {
    const { desk, goAway, admission, count } = await joined();
    count.members = undefined;
    goAway();
    for (const limited of [{ debits: [RATE] }, { slots: [PLACES] }]) {
      await expect(desk.admit(admission(limited))).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    }
    await expect(desk.admit(admission({}))).resolves.toBeUndefined();
  });

  test("one that does not answer lets nobody through", async () => {
    const { desk, health, admission } = await joined();
    health.answers = false;
    await expect(desk.admit(admission({ debits: [RATE] }))).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
  });
});

describe("when the store is back", () => {
  test("it counts again, as if nothing had been", async () => {
    const { set, goAway, passed } = await joined();
    goAway();
    expect(await passed(5, { debits: [RATE] })).toBe(2);
    set(true);
    expect(await passed(20, { debits: [RATE] })).toBe(7);
  });

  test("it gets back the places of calls that ended meanwhile", async () => {
    const { desk, set, admission, passed } = await joined();
    const held = Array.from({ length: 4 }, () => admission({ slots: [PLACES] }));
    for (const one of held) await desk.admit(one);
    set(false);
    for (const one of held) desk.settle(one);
    set(true);
    expect(await passed(6, { slots: [PLACES] })).toBe(4);
  });

  test("it gets back what it gave without saying so", async () => {
    const { desk, health, admission, passed, set } = await joined();
    health.answers = false;
    const lost = admission({ slots: [{ ...PLACES, max: 1 }] });
    await expect(desk.admit(lost)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    set(false);
    health.answers = true;
    set(true);
    expect(await passed(1, { slots: [{ ...PLACES, max: 1 }] })).toBe(1);
  });

  test("nobody is told after the end", async () => {
    const { desk, listeners } = await joined();
    desk.close();
    expect(listeners.size).toBe(0);
  });
});
