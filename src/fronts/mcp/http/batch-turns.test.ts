import { describe, expect, test } from "vitest";
import type { Principal, Steps } from "../../../contract/index.ts";
import { BatchTurns } from "./batch-turns.ts";

const known = (user: string, id = user): Principal => ({
  id: `token:default/${user}/${id}`,
  identity: { tenant: "default", user, client: id, groups: [], scopes: [], role: undefined, proof: "token" },
});
const [ANN, BOB] = [known("ann"), known("bob")];

/** Each step takes `ms`. */
function started(ms: number) {
  let now = 0;
  const turns: (() => void)[] = [];
  const done: string[] = [];
  const batches = new BatchTurns({ now: () => now }, (turn) => turns.push(turn));
  function* batch(name: string, steps: number): Steps<void> {
    for (let step = 1; step <= steps; step++) {
      now += ms;
      done.push(`${name}${step}`);
      yield;
    }
  }
  const goOn = () => {
    const ready = turns.splice(0);
    for (const turn of ready) turn();
    return ready.length;
  };
  return { batches, batch, done, goOn };
}

describe("BatchTurns", () => {
  test("takes a short batch at once", () => {
    const { batches, batch, done, goOn } = started(1);
    expect(batches.take(ANN, batch("a", 3))).toBe(true);
    expect([done, goOn()]).toEqual([["a1", "a2", "a3"], 0]);
  });

  test("takes of a long one a few ms in each turn, one turn at a time", () => {
    const { batches, batch, done, goOn } = started(2);
    batches.take(ANN, batch("a", 6));
    expect(done).toEqual(["a1", "a2"]);
    expect([goOn(), done.length]).toEqual([1, 4]);
    while (goOn() > 0);
    expect(done).toHaveLength(6);
  });

  test("deals turns to callers, and to each for one batch at a time, however many it sends and by however many tokens", () => {
    const { batches, batch, done, goOn } = started(4);
    for (const [at, one] of [ANN, known("ann", "other"), ANN].entries()) batches.take(one, batch(`a${at}.`, 2));
    batches.take(BOB, batch("b", 2));
    while (goOn() > 0);
    expect(done).toEqual(["a0.1", "a0.2", "b1", "b2", "a1.1", "a1.2", "a2.1", "a2.2"]);
  });

  test("refuses what is too much of one caller, and nothing of others", () => {
    const { batches, batch } = started(4);
    const taken = Array.from({ length: 80 }, () => batches.take(ANN, batch("a", 2)));
    expect(taken.filter((one) => one)).toHaveLength(64);
    expect(batches.take(BOB, batch("b", 2))).toBe(true);
  });
});
