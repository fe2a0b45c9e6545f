import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { atOnce } from "../../../../tests/kit/at-once.ts";
import { readInTurns } from "./pipe-reading.ts";

/** Each piece takes a whole turn of its peer. */
function rig() {
  const pipe = new PassThrough({ highWaterMark: 1024 * 1024 });
  const turns: (() => void)[] = [];
  const taken: string[] = [];
  const broken: unknown[] = [];
  let now = 0;
  const take = (text: string) => {
    if (text === "!") throw new Error("no");
    taken.push(text);
    now += 10;
  };
  const pace = { clock: { now: () => now }, slices: atOnce, later: (turn: () => void) => turns.push(turn) };
  const reading = readInTurns(pipe.setEncoding("latin1"), { take, onBroken: (error) => broken.push(error) }, pace);
  return {
    pipe,
    reading,
    broken,
    say: (...texts: string[]) => texts.forEach((text) => void pipe.write(text)),
    async taken() {
      await new Promise(setImmediate);
      return taken.splice(0);
    },
    nextTurn: () => turns.shift()?.(),
  };
}

describe("readInTurns", () => {
  test("reads on when everybody else had their turn", async () => {
    const { say, taken, nextTurn } = rig();
    say("a", "b");
    expect(await taken()).toEqual(["a"]);
    nextTurn();
    expect(await taken()).toEqual(["b"]);
  });

  test("reads nothing while it is paused, also when its turn comes", async () => {
    const { reading, say, taken, nextTurn } = rig();
    reading.pause();
    say("a", "b");
    expect(await taken()).toEqual([]);
    reading.resume();
    expect(await taken()).toEqual(["a"]);
    reading.pause();
    nextTurn();
    expect(await taken()).toEqual([]);
    reading.resume();
    expect(await taken()).toEqual(["b"]);
  });

  test("does not read before its turn because somebody resumes it", async () => {
    const { reading, say, taken, nextTurn } = rig();
    say("a", "b");
    expect(await taken()).toEqual(["a"]);
    reading.resume();
    expect(await taken()).toEqual([]);
    nextTurn();
    expect(await taken()).toEqual(["b"]);
  });

  test("takes nothing more of what cannot be taken", async () => {
    const { say, taken, broken } = rig();
    say("!", "a");
    expect(await taken()).toEqual([]);
    expect(broken).toEqual([new Error("no")]);
  });
});
