import { describe, expect, test } from "vitest";
import { connectionBound, ownConnectionBound, ownUpstreamBound, upstreamBound } from "./connection-bound.ts";

describe("connectionBound", () => {
  test.each([
    [1_048_576, 30, 20_000],
    [20_000, 30, 18_946],
    [4_096, 30, 3_042],
    [64, 30, 17],
    [20, 30, 1],
  ])("with at most %i open files, %i of them open, there are %i connections", (limit, open, most) => {
    expect(connectionBound(limit, open)).toBe(most);
  });

  test.each([
    [1_048_576, 30, 20_000],
    [4_096, 30, 1_521],
    [64, 30, 8],
    [20, 30, 1],
  ])("with at most %i open files, %i of them open, each of two ports has %i connections", (limit, open, most) => {
    expect(connectionBound(limit, open, 2)).toBe(most);
  });

  test.each([
    [1_048_576, 30, 20_000],
    [20_000, 30, 512],
    [4_096, 30, 512],
    [64, 30, 8],
    [20, 30, 1],
  ])("with at most %i open files, %i of them open, there are %i to servers", (limit, open, most) => {
    expect(upstreamBound(limit, open)).toBe(most);
  });

  test("is found out for this process", () => {
    expect(ownConnectionBound()).toBeGreaterThan(0);
    expect(ownConnectionBound()).toBeLessThanOrEqual(20_000);
    expect(ownUpstreamBound()).toBeGreaterThan(0);
    expect(ownUpstreamBound()).toBeLessThanOrEqual(20_000);
  });
});
