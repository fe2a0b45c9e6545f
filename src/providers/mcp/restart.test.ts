import { describe, expect, test } from "vitest";
import { Backoff } from "./restart.ts";

describe("Backoff", () => {
  const pauses = (backoff: Backoff, count: number) =>
    Array.from({ length: count }, () => {
      backoff.failed(0);
      return backoff.notBefore;
    });

  test("doubles from 200 ms to 30 s", () => {
    expect(pauses(new Backoff(() => 1), 9)).toEqual([200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000]);
  });

  test("shortens each pause at random, by half at most", () => {
    expect(pauses(new Backoff(() => 0), 3)).toEqual([100, 200, 400]);
  });

  test("starts anew after a minute without trouble, and not before", () => {
    const backoff = new Backoff(() => 1);
    pauses(backoff, 5);
    backoff.opened(1000);
    backoff.failed(2000);
    expect(backoff.notBefore).toBe(2000 + 6400);
    backoff.opened(10_000);
    backoff.failed(70_000);
    expect(backoff.notBefore).toBe(70_200);
  });

  test("lets a forgotten session be opened at once, unless they are forgotten in a row", () => {
    const backoff = new Backoff(() => 1);
    backoff.expired(1000);
    expect(backoff.notBefore).toBe(0);
    backoff.expired(1100);
    expect(backoff.notBefore).toBe(1300);
  });
});
