import { describe, expect, test } from "vitest";
import type { Steps } from "../contract/index.ts";
import { SlicedWork } from "./slices.ts";

/** Time in which every look at the clock takes a millisecond; turns come when the test says so. */
function rig() {
  let now = 0;
  const turns: (() => void)[] = [];
  const slices = new SlicedWork({ now: () => now++ }, (turn) => void turns.push(turn));
  const turn = () => {
    expect(turns).toHaveLength(1);
    turns.shift()?.();
  };
  return { slices, turn, waits: () => turns.length };
}

function* counting(name: string, steps: number, into: string[]): Steps<string> {
  for (let step = 0; step < steps; step++) {
    into.push(name);
    yield;
  }
  return name;
}

describe("SlicedWork", () => {
  test("does short work at once, and says what it took", () => {
    const { slices, waits } = rig();
    const effort = { ms: 10 };
    expect(slices.run(counting("a", 2, []), effort)).toBe("a");
    expect([effort.ms > 10, waits()]).toEqual([true, 0]);
  });

  test("lets what comes in from outside have its turn between two slices of long work", async () => {
    const { slices, turn, waits } = rig();
    const done: string[] = [];
    const running = slices.run(counting("a", 10, done));
    const first = done.length;
    expect(first).toBeLessThan(10);
    turn();
    expect(done.length).toBeGreaterThan(first);
    while (waits() > 0) turn();
    expect(await running).toBe("a");
  });

  test("does one slice per turn, whoever wants how much", () => {
    const { slices, turn } = rig();
    const done: string[] = [];
    for (const name of ["a", "b", "c"]) void slices.run(counting(name, 9, done));
    // Only the first one began: nothing else waited then.
    expect(new Set(done)).toEqual(new Set(["a"]));
    const seen: string[] = [];
    for (let count = 0; count < 3; count++) {
      done.length = 0;
      turn();
      expect(new Set(done).size).toBe(1);
      seen.push(done[0] ?? "");
    }
    expect(seen).toEqual(["a", "b", "c"]);
  });

  test("fails whoever waits for work that throws, and nobody else", async () => {
    const { slices, turn, waits } = rig();
    const done: string[] = [];
    const fine = slices.run(counting("a", 10, done));
    const failing = slices.run(
      (function* (): Steps<void> {
        yield;
        throw new Error("no");
      })(),
    );
    const failed = expect(failing).rejects.toThrow("no");
    while (waits() > 0) turn();
    await failed;
    expect(await fine).toBe("a");
  });
});
