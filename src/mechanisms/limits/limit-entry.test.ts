import { describe, expect, test } from "vitest";
import { isExact, type LimitEntry, levelOf, MAX_CAPACITY, parseRefill } from "./limit-entry.ts";

describe("parseRefill", () => {
  test("reads calls per second, minute, hour and day, also with decimals, as whole numbers [AP-533]", () => {
    expect(parseRefill("100/s")).toEqual({ refill: 100, periodMs: 1_000 });
    expect(parseRefill("30/m")).toEqual({ refill: 30, periodMs: 60_000 });
    expect(parseRefill("7/h")).toEqual({ refill: 7, periodMs: 3_600_000 });
    expect(parseRefill("1/d")).toEqual({ refill: 1, periodMs: 86_400_000 });
    expect(parseRefill("0.5/s")).toEqual({ refill: 5, periodMs: 10_000 });
    expect(parseRefill("1.05/m")).toEqual({ refill: 105, periodMs: 6_000_000 });
  });

  test.each([
    "",
    "100",
    "/s",
    "100/ms",
    "100/S",
    "-1/s",
    "0/s",
    "0.0/m",
    "1e3/s",
    "1/ s",
    " 1/s",
    "1.2345/s",
    "99999999999/s",
  ])("takes %j for nothing", (text) => {
    expect(parseRefill(text)).toBeUndefined();
  });

  test("finds numbers that could not be counted exactly", () => {
    expect(isExact({ capacity: MAX_CAPACITY, refill: 1, periodMs: 86_400_000 })).toBe(true);
    expect(isExact({ capacity: MAX_CAPACITY, refill: 1, periodMs: 86_400_000 * 1_000 })).toBe(false);
  });
});

describe("levelOf", () => {
  const entry = (more: Partial<LimitEntry>): LimitEntry => ({ selector: {}, per: [], budget: 1, ...more });

  test("is the most special thing that a limit names, by a value or by what it is split by", () => {
    expect(levelOf(entry({ selector: { server: "crm", primitive: "crm.search", user: "ada" } }))).toBe("primitive");
    expect(levelOf(entry({ selector: { server: "crm", user: "*" }, per: ["user"] }))).toBe("user");
    expect(levelOf(entry({ selector: { client: "7d1f*" } }))).toBe("client");
    expect(levelOf(entry({ per: ["session"] }))).toBe("client");
    expect(levelOf(entry({ selector: { server: "crm" }, owner: "org-1" }))).toBe("server");
    expect(levelOf(entry({ selector: { tenant: "org-1" } }))).toBe("tenant");
    expect(levelOf(entry({ owner: "org-1" }))).toBe("tenant");
    expect(levelOf(entry({ selector: { server: "*", primitive: "*", user: "*", client: "*" } }))).toBe("global");
  });
});
