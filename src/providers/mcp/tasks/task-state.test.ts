import { describe, expect, test } from "vitest";
import { membersAt } from "../../../contract/index.ts";
import { LEGACY_WORDS, MODERN_WORDS, readTaskState } from "./task-state.ts";

const read = (task: object, words = LEGACY_WORDS) =>
  readTaskState(membersAt(JSON.stringify({ status: "working", ...task }), 0), words);

describe("what a server says about a task", () => {
  test.each([
    [0, 250],
    [100, 250],
    [700, 700],
    [60_000, 10_000],
    [-1, 1000],
    ["2000", 1000],
    [null, 1000],
    [undefined, 1000],
  ])("is asked again after its interval %j, within bounds: after %d ms", (pollInterval, pollMs) => {
    expect(read({ pollInterval })?.pollMs).toBe(pollMs);
  });

  test.each([
    [60_000, 60_000],
    [0, 3_600_000],
    [-1, 3_600_000],
    [null, 3_600_000],
    ["x", 3_600_000],
    [1e300, 86_400_000],
  ])("holds for its time to live %j, within bounds: for %d ms", (ttl, keepMs) => {
    expect(read({ ttl })?.keepMs).toBe(keepMs);
  });

  test("is read in the words of its era", () => {
    const both = { ttl: 1000, ttlMs: 2000, pollInterval: 3000, pollIntervalMs: 4000 };
    expect(read(both)).toMatchObject({ keepMs: 1000, pollMs: 3000 });
    expect(read(both, MODERN_WORDS)).toMatchObject({ keepMs: 2000, pollMs: 4000 });
  });

  test("is nothing without a status that is known, and its message is not kept at any length", () => {
    expect(read({ status: "paused" })).toBeUndefined();
    expect(read({ status: 5 })).toBeUndefined();
    expect(readTaskState(undefined, LEGACY_WORDS)).toBeUndefined();
    expect(read({ statusMessage: "x".repeat(5000) })?.message).toHaveLength(1000);
    expect(read({ statusMessage: {} })?.message).toBeUndefined();
  });
});
