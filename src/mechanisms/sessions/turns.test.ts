import { expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { LOCAL, type Principal } from "../../contract/index.ts";
import { Shares } from "./shares.ts";
import { Turns } from "./turns.ts";

const caller = (id: string, user = id, tenant = "default") =>
  ({ id, identity: { ...LOCAL.identity, tenant, user, proof: "token" } }) as Principal;

function rig(bound: number) {
  const time = new ManualTime();
  const turns = new Turns(new Shares(bound), time);
  return {
    time,
    turns,
    /** How many turns there are now. */
    takeAll(of: (number: number) => Principal): number {
      for (let taken = 0; taken < 1000; taken++) {
        if (turns.waitMs(of(taken)) > 0) return taken;
        turns.take(of(taken));
      }
      return 1000;
    },
  };
}

test.each<[string, number, (number: number) => Principal, number, number]>([
  ["a caller has a part of its share at once, and the rest soon", 256, () => caller("ann"), 16, 64],
  ["a user has as many, with however many tokens", 256, (number) => caller(`token ${number}`, "ann"), 16, 64],
  ["a tenant has half", 256, (number) => caller(`token ${number}`, `user ${number}`, "acme"), 32, 128],
  ["a small share has some at once, too", 4, () => caller("ann"), 10, 10],
  ["whoever is there has all, where nobody is asked who they are", 256, () => LOCAL, 64, 256],
])("%s", (_whose, bound, of, atOnce, most) => {
  const { takeAll, turns, time } = rig(bound);
  const first = takeAll(of);
  expect(first).toBe(atOnce);
  expect(turns.waitMs(caller("bob"))).toBe(0);
  let taken = first;
  for (let second = 0; second < 4; second++) {
    time.advance(1_000);
    taken += takeAll(of);
  }
  // Some have come back since.
  const backInASecond = Math.max(60, most) / 60;
  expect(taken).toBeGreaterThanOrEqual(most);
  expect(taken).toBeLessThanOrEqual(most + 4 * backInASecond);
});

test("then there is one a second", () => {
  const { takeAll, turns, time } = rig(4);
  takeAll(() => caller("ann"));
  expect(turns.waitMs(caller("ann"))).toBe(1_000);
  time.advance(1_000);
  expect(takeAll(() => caller("ann"))).toBe(1);
  time.advance(3_600_000);
  expect(takeAll(() => caller("ann"))).toBe(10);
});

test("with thousands of callers, those who are spent stay so", () => {
  const { takeAll, turns, time } = rig(4);
  for (let number = 0; number < 3_000; number++) turns.take(caller(`${number}`));
  time.advance(1_000);
  takeAll(() => caller("ann"));
  for (let number = 0; number < 3_000; number++) turns.take(caller(`${number}`));
  expect(turns.waitMs(caller("ann"))).toBeGreaterThan(0);
});
