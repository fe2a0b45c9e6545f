import { describe, expect, test } from "vitest";
import { type Effort, PacedText, type Slices, type Steps } from "./index.ts";

const KIB = 1024;

/** Every part takes as long as the test says, by a clock of its own; slices end after 4 ms of it. */
function rig({ msPerKib = 0, isAtOnce = false } = {}) {
  let now = 1_000;
  let cost = msPerKib;
  const clock = { now: () => now };
  const parts: number[] = [];
  const told: string[] = [];
  const turns: (() => void)[] = [];
  const jobs: (() => void)[] = [];
  const slices: Slices = {
    run<Result>(steps: Steps<Result>, _effort?: Effort): Result | Promise<Result> {
      const slice = () => {
        for (const from = now; ; ) {
          const step = steps.next();
          if (step.done || (!isAtOnce && now - from >= 4)) return step;
        }
      };
      const { done, value } = slice();
      if (done) return value;
      return new Promise((resolve, reject) => {
        const turn = () => {
          try {
            const step = slice();
            if (step.done) resolve(step.value);
            else jobs.push(turn);
          } catch (error) {
            reject(error);
          }
        };
        jobs.push(turn);
      });
    },
  };
  const text = new PacedText(
    { clock, slices, later: (turn) => turns.push(turn) },
    {
      onPart(part) {
        if (part.includes("!")) throw new Error("no");
        parts.push(part.length);
        now += (cost * part.length) / KIB;
      },
      onFull: () => told.push("full"),
      onFree: () => told.push("free"),
      onBroken: (error) => told.push(String(error)),
    },
  );
  return {
    text,
    push: (kib: number) => text.push("x".repeat(kib * KIB)),
    wait: (ms: number) => (now += ms),
    costs: (ms: number) => (cost = ms),
    taken: () => parts.splice(0),
    told: () => told.splice(0),
    async turn() {
      for (const next of [...turns.splice(0), ...jobs.splice(0)]) next();
      for (let tick = 0; tick < 5; tick++) await Promise.resolve();
    },
  };
}

describe("PacedText", () => {
  test("hands on at once what takes no time, in larger parts the longer that goes on", () => {
    const { push, taken, told } = rig();
    push(1);
    push(60);
    push(64);
    push(64);
    expect(taken()).toEqual(
      [1, 4, 8, 16, 32, 64, 64]
        .map((kib, at) => (at === 0 ? KIB : kib * KIB))
        .slice(0, 4)
        .concat([32 * KIB, 64 * KIB, 64 * KIB]),
    );
    expect(told()).toEqual([]);
  });

  test("leaves what takes long for later turns, a few parts in each, and asks for no more until it is done", async () => {
    const { push, taken, told, turn, text } = rig({ msPerKib: 1.5 });
    push(16);
    expect(taken()).toEqual([4 * KIB]);
    expect(told()).toEqual(["full"]);
    // Whoever has let it come all the same is told again.
    push(1);
    expect([taken(), told()]).toEqual([[], ["full"]]);
    await turn();
    expect(taken()).toEqual([KIB, KIB, KIB]);
    for (let turns = 0; turns < 3; turns++) await turn();
    expect(taken()).toHaveLength(9);
    expect([told(), text.isResting]).toEqual([[], true]);
    await turn();
    expect(taken()).toHaveLength(1);
    expect([told(), text.isResting]).toEqual([["free"], false]);
  });

  test("counts together what comes without a pause, and nothing that came before one", async () => {
    const { push, wait, told, turn } = rig({ msPerKib: 1.5 });
    push(1);
    push(1);
    wait(5);
    push(1);
    push(1);
    expect(told()).toEqual([]);
    push(1);
    expect(told()).toEqual(["full"]);
    await turn();
    expect(told()).toEqual(["free"]);
  });

  test("throws what goes wrong at once, and tells of what goes wrong later, once", async () => {
    expect(() => rig().text.push("!")).toThrow("no");
    const { text, told, turn, taken } = rig({ msPerKib: 1.5 });
    text.push(`${"x".repeat(6 * KIB)}!`);
    taken();
    expect(told()).toEqual(["full"]);
    await turn();
    expect(told()).toEqual(["Error: no"]);
    text.push("x");
    await turn();
    expect([taken().length, told()]).toEqual([2, []]);
  });

  test("takes nothing more once it is stopped, and says nothing", async () => {
    const { text, push, told, turn, taken } = rig({ msPerKib: 1.5 });
    push(16);
    text.stop();
    taken();
    told();
    await turn();
    push(1);
    expect([taken(), told()]).toEqual([[], []]);
  });
});
