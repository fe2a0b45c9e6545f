import { describe, expect, test } from "vitest";
import { wholesOf } from "./subscribers.ts";

describe("what a resource is a part of", () => {
  test("ends before each of its slashes, the longest first", () => {
    expect(wholesOf("doc://a/b")).toEqual(["doc://a/b", "doc://a", "doc:/", "doc:"]);
    expect(wholesOf("/a/")).toEqual(["/a/", "/a"]);
    expect(wholesOf("plain")).toEqual(["plain"]);
  });

  test("is looked for in a bounded text, however many slashes a server writes", () => {
    const bytes = (uri: string) => wholesOf(uri).reduce((sum, { length }) => sum + length, 0);
    for (const slashes of [8_000, 16_300, 1_000_000]) {
      const uri = `x:${"/".repeat(slashes)}`;
      expect(bytes(uri)).toBeLessThan(20_000);
    }
    expect(bytes(`x:${"y".repeat(8_000)}${"/".repeat(190)}`)).toBeLessThan(600_000);
  });

  test("is itself, too, where it is deeper than that", () => {
    const uri = `x:${"/a".repeat(1_000)}`;
    expect(wholesOf(uri)[0]).toBe(uri);
    expect(wholesOf(uri).slice(-2)).toEqual(["x:/a", "x:"]);
  });
});
