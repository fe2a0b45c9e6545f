import { describe, expect, test } from "vitest";
import { flush } from "../../tests/kit/test-kernel.ts";
import { DEFAULT_TENANT, GatewayError } from "../contract/index.ts";
import type { SlotShare } from "./slot-share.ts";
import { Slots } from "./slots.ts";

/** "tenant/user/token", "user/token" of the platform's own, or a program of nobody's. */
function callerNamed(name: string) {
  const [id = "", user = "", tenant = DEFAULT_TENANT] = name.split("/").reverse();
  return { id, user, tenant };
}

/** A line whose callers write down who got a slot, in order. */
function line(limit: number, maxWaiting?: number) {
  const slots = new Slots(limit, maxWaiting);
  const granted: string[] = [];
  const refused: string[] = [];
  const held: { caller: string; share: SlotShare }[] = [];
  async function want(caller: string, signal = new AbortController().signal): Promise<void> {
    try {
      const share = await slots.take(callerNamed(caller), signal);
      granted.push(caller);
      held.push({ caller, share });
    } catch (error) {
      refused.push(`${caller} ${GatewayError.from(error).code}`);
    }
  }
  /** The oldest call of this caller ends. */
  async function end(caller: string): Promise<void> {
    const [one] = held.splice(
      held.findIndex((each) => each.caller === caller),
      1,
    );
    if (one) slots.free(one.share);
    await flush();
  }
  return { slots, granted, refused, want, end };
}

describe("Slots", () => {
  test("gives all of them to one caller as long as nobody else wants any", async () => {
    const { slots, granted, want } = line(3);
    for (let call = 0; call < 5; call++) void want("a");
    await flush();
    expect(granted).toEqual(["a", "a", "a"]);
    expect(slots.taken).toBe(3);
  });

  test("gives the next free slot to whoever has the fewest, though another caller's calls have waited longer", async () => {
    const { granted, want, end } = line(2);
    for (let call = 0; call < 8; call++) void want("greedy");
    void want("late");
    await flush();
    await end("greedy");
    expect(granted).toEqual(["greedy", "greedy", "late"]);
    await end("greedy");
    expect(granted.at(-1)).toBe("greedy");
  });

  test("lets callers that have equally many take turns, and keeps the order of each one's calls", async () => {
    const { granted, want, end } = line(1, 5);
    void want("x");
    for (const caller of ["a", "a", "b", "c", "b"]) void want(caller);
    await flush();
    for (let turn = 0; turn < 5; turn++) await end(granted.at(-1) ?? "");
    expect(granted).toEqual(["x", "a", "b", "c", "a", "b"]);
  });

  test("does not starve whoever waits while another caller comes again and again", async () => {
    const { granted, want, end } = line(2);
    for (let call = 0; call < 2; call++) void want("steady");
    void want("again");
    void want("steady");
    await flush();
    for (let turn = 0; turn < 6; turn++) {
      await end("steady");
      void want("again");
      void want("steady");
      await flush();
    }
    expect(granted.filter((caller) => caller === "steady").length).toBeGreaterThan(6);
  });

  test("takes a place in a full line from whoever has most in it, and from nobody who has no more than the newcomer", async () => {
    const { refused, want } = line(1, 4);
    for (let call = 0; call < 5; call++) void want("greedy");
    void want("greedy");
    for (const caller of ["b", "c", "d"]) void want(caller);
    await flush();
    expect(refused).toEqual(Array.from({ length: 4 }, () => "greedy OVERLOADED"));
    void want("e"); // each of the four has one place now
    await flush();
    expect(refused.at(-1)).toBe("e OVERLOADED");
  });

  test("lets a call that waits leave the line, and its place is free again", async () => {
    const { granted, refused, want, end } = line(1, 1);
    const leaving = new AbortController();
    void want("a");
    void want("a", leaving.signal);
    await flush();
    leaving.abort(new GatewayError("CANCELLED"));
    await flush();
    expect(refused).toEqual(["a CANCELLED"]);
    void want("a");
    await end("a");
    expect(granted).toEqual(["a", "a"]);
  });

  test("forgets callers that have nothing, and none that has something", async () => {
    const { slots, granted, want, end } = line(2);
    void want("kept");
    await flush();
    for (let caller = 0; caller < 2_000; caller++) {
      const share = slots.tryTake(callerNamed(`caller ${caller}`));
      if (share) slots.free(share);
    }
    expect(slots.taken).toBe(1);
    void want("kept");
    void want("kept");
    void want("other");
    await flush();
    await end("kept");
    expect(granted.at(-1)).toBe("other");
  });

  test("gives a slot that is lent to others, and none to whoever has as many running as there are slots", async () => {
    const { slots, granted, want, end } = line(2);
    for (const caller of ["gone", "gone", "gone", "b"]) void want(caller);
    await flush();
    slots.lend();
    slots.lend();
    await flush();
    expect(granted).toEqual(["gone", "gone", "b"]);
    // There is room, but not for this caller.
    expect(slots.tryTake(callerNamed("gone"))).toBeUndefined();
    await end("b");
    expect(granted).toEqual(["gone", "gone", "b"]);
    expect(slots.taken).toBe(0);
  });

  test("lets a caller go on when what was lent of its own is over", async () => {
    const { slots, granted, want } = line(1);
    const share = slots.tryTake(callerNamed("gone")) as SlotShare;
    void want("gone");
    slots.lend();
    await flush();
    expect(granted).toEqual([]);
    slots.freeLent(share);
    await flush();
    expect(granted).toEqual(["gone"]);
  });

  test.each([
    ["tokens of a user", (at: number) => `eve/token ${at}`, "ann/token"],
    ["tokens of a tenant's user", (at: number) => `acme/boss/token ${at}`, "ann/token"],
    ["users of a tenant", (at: number) => `acme/user ${at}/token`, "ann/token"],
    ["programs of a tenant", (at: number) => `acme//program ${at}`, "program"],
    ["users of a tenant, against another's", (at: number) => `acme/user ${at}/token`, "other/ann/token"],
    ["tokens of a user, against others of the tenant", (at: number) => `acme/eve/token ${at}`, "acme/ann/token"],
  ])("gives no more slots and places to whoever comes with many %s", async (_whose, named, other) => {
    const { granted, refused, want, end } = line(2, 4);
    for (let at = 0; at < 12; at++) void want(named(at));
    void want(other);
    void want(other);
    await flush();
    expect(refused).not.toContain(`${other} OVERLOADED`);
    await end(named(0));
    await end(named(1));
    expect(granted.slice(2)).toContain(other);
    expect(granted.slice(2)).toHaveLength(2);
  });

  test("has as many calls of a user, and of a tenant, at the provider as there are slots, with what was left", async () => {
    const { slots, granted, want } = line(2);
    for (let at = 0; at < 2; at++) void want(`acme/eve/token ${at}`);
    await flush();
    slots.lend();
    slots.lend();
    void want("acme/eve/token 2");
    void want("acme/ann/token");
    void want("bob/token");
    void want("cid/token");
    await flush();
    expect(granted.slice(2)).toEqual(["bob/token", "cid/token"]);
  });
});
