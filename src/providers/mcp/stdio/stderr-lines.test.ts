import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../../tests/kit/manual-time.ts";
import { KeptLog } from "../../../../tests/kit/quiet.ts";
import { StderrLines } from "./stderr-lines.ts";

function rig() {
  const time = new ManualTime();
  const log = new KeptLog();
  const heard: string[] = [];
  const lines = new StderrLines({ log, timers: time, hear: (line) => heard.push(line) });
  const logged = () => log.lines.flatMap(({ fields: { line } }) => (line === undefined ? [] : [line]));
  const counted = () => log.lines.flatMap(({ fields: { lines: more } }) => (more === undefined ? [] : [more]));
  const numbered = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `line ${from + at}\n`).join("");
  return { time, lines, heard, logged, counted, numbered };
}

describe("StderrLines", () => {
  test("logs lines however they are cut, the last one at the end, and none that are blank", () => {
    const { lines, logged, heard, time } = rig();
    for (const text of ["o", "ne\ntw", "o\n\n  \nthree"]) lines.push(text);
    expect(logged()).toEqual(["one", "two"]);
    lines.end();
    expect(logged()).toEqual(["one", "two", "three"]);
    expect(heard).toEqual(["one", "two", "three"]);
    expect(time.pending).toBe(0);
  });

  test("logs a hundred lines a second, and counts the others", () => {
    const { lines, logged, counted, heard, numbered, time } = rig();
    lines.push(numbered(0, 300));
    expect(logged()).toHaveLength(100);
    expect(heard).toHaveLength(300);
    time.advance(1_000);
    expect(counted()).toEqual([200]);
    lines.push(numbered(300, 350));
    expect(logged()).toHaveLength(150);
    expect(time.pending).toBe(1);
    lines.end();
    expect(counted()).toEqual([200]);
    expect(time.pending).toBe(0);
  });

  test("looks at no more than a thousand lines of a flood, and at its last ones when the second is over", () => {
    const { lines, counted, heard, numbered, time } = rig();
    for (let at = 0; at < 50; at++) lines.push(numbered(at * 1_000, (at + 1) * 1_000));
    expect(heard).toHaveLength(1_000);
    expect(heard.at(-1)).toBe("line 999");
    time.advance(1_000);
    expect(heard.at(-1)).toBe("line 49999");
    expect(heard.length).toBeLessThan(2_000);
    expect(heard.slice(1_000)).toEqual(heard.slice(1_000).filter((line) => /^line 4\d{4}$/.test(line)));
    expect(counted()).toEqual([49_900]);
  });

  test("says the last words of whoever dies in a flood, also those without a line end", () => {
    const { lines, heard, numbered, time } = rig();
    lines.push(numbered(0, 5_000));
    lines.push("Error: no memory\nexiting");
    lines.end();
    expect(heard.slice(-2)).toEqual(["Error: no memory", "exiting"]);
    expect(time.pending).toBe(0);
  });

  test("takes a line that is cut over the end of a second as one", () => {
    const { lines, heard, numbered, time } = rig();
    lines.push(numbered(0, 2_000));
    lines.push("Error: no");
    time.advance(1_000);
    lines.push(" memory\n");
    expect(heard.at(-1)).toBe("Error: no memory");
  });

  test("keeps a bounded part of a line without an end, and of one in a flood", () => {
    const { lines, logged, heard, numbered, time } = rig();
    lines.push(`${"x".repeat(100_000)}\n`);
    expect(logged()).toEqual(["x".repeat(1_024)]);
    lines.push(numbered(0, 1_000));
    for (let at = 0; at < 100; at++) lines.push("y".repeat(1_000));
    time.advance(1_000);
    lines.end();
    expect(heard.at(-1)).toBe("y".repeat(1_024));
  });
});
