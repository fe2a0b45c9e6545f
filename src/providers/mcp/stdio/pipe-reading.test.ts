import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { readInTurns } from "./pipe-reading.ts";

const KIB = 1024;

function rig() {
  const pipe = new PassThrough({ highWaterMark: 1024 * KIB });
  const turns: (() => void)[] = [];
  const pieces: number[] = [];
  const reading = readInTurns(
    pipe,
    (piece: Buffer) => pieces.push(piece.length),
    (turn) => turns.push(turn),
  );
  const say = (...sizes: number[]) => sizes.forEach((size) => void pipe.write(Buffer.alloc(size)));
  const taken = async () => {
    await new Promise(setImmediate);
    return pieces.splice(0);
  };
  return { pipe, reading, say, taken, turns, nextTurn: () => turns.shift()?.() };
}

describe("readInTurns", () => {
  test("takes so much of a pipe in one turn, and the rest after the others", async () => {
    const { say, taken, turns, nextTurn } = rig();
    say(64 * KIB, 64 * KIB, 10);
    expect(await taken()).toEqual([64 * KIB]);
    expect(turns).toHaveLength(1);
    nextTurn();
    expect(await taken()).toEqual([64 * KIB]);
    nextTurn();
    expect(await taken()).toEqual([10]);
    expect(turns).toHaveLength(0);
  });

  test("counts small pieces together", async () => {
    const { say, taken, turns, nextTurn } = rig();
    say(40 * KIB, 40 * KIB, 40 * KIB);
    expect(await taken()).toEqual([40 * KIB, 40 * KIB]);
    nextTurn();
    expect(await taken()).toEqual([40 * KIB]);
    expect(turns).toHaveLength(0);
  });

  test("reads nothing while it is paused, also when its turn comes", async () => {
    const { reading, say, taken, nextTurn } = rig();
    reading.pause();
    say(64 * KIB, 64 * KIB);
    expect(await taken()).toEqual([]);
    reading.resume();
    expect(await taken()).toEqual([64 * KIB]);
    reading.pause();
    nextTurn();
    expect(await taken()).toEqual([]);
    reading.resume();
    expect(await taken()).toEqual([64 * KIB]);
  });

  test("does not read before its turn because somebody resumes it", async () => {
    const { reading, say, taken, nextTurn } = rig();
    say(64 * KIB, 10);
    expect(await taken()).toEqual([64 * KIB]);
    reading.resume();
    expect(await taken()).toEqual([]);
    nextTurn();
    expect(await taken()).toEqual([10]);
  });

  test("brings the end of the pipe behind all that was in it", async () => {
    const { pipe, say, taken, nextTurn } = rig();
    let isEnded = false;
    pipe.on("end", () => (isEnded = true));
    say(64 * KIB, 64 * KIB);
    pipe.end();
    expect([await taken(), isEnded]).toEqual([[64 * KIB], false]);
    nextTurn();
    await taken();
    nextTurn();
    await taken();
    expect(isEnded).toBe(true);
  });
});
