import { describe, expect, test } from "vitest";
import { createLog } from "./log.ts";
import { RecentLines } from "./recent-lines.ts";

const all = { level: "debug", limit: 10_000, words: [] } as const;

describe("RecentLines", () => {
  test.each(["json", "pretty", () => ""] as const)(
    "has what was logged as JSON, however it is shown (%s)",
    (format) => {
      const keep = new RecentLines();
      const log = createLog({ level: "info", format, write: () => undefined, now: () => 0, keep });
      log.child({ provider: "crm" }).warn("list cut short", { count: 3 });
      log.debug("not of this level");
      expect(keep.list(all).map((line) => JSON.parse(line))).toEqual([
        { time: "1970-01-01T00:00:00.000Z", level: "warn", message: "list cut short", provider: "crm", count: 3 },
      ]);
    },
  );

  test("shows the newest that are important enough and have the words", () => {
    const lines = new RecentLines();
    for (let number = 1; number <= 5; number++) lines.add(number % 2 ? "info" : "warn", `{"number":${number}}`);
    expect(lines.list({ ...all, limit: 2 })).toEqual(['{"number":4}', '{"number":5}']);
    expect(lines.list({ ...all, level: "warn" })).toEqual(['{"number":2}', '{"number":4}']);
    expect(lines.list({ ...all, words: ["3"] })).toEqual(['{"number":3}']);
  });

  test("forgets the oldest when there are too many or they are too long", () => {
    const lines = new RecentLines();
    for (let number = 0; number < 5_000; number++) lines.add("info", String(number));
    const kept = lines.list(all);
    expect(kept.length).toBeLessThanOrEqual(1_000);
    expect(kept.at(-1)).toBe("4999");
    for (let number = 0; number < 100; number++) lines.add("info", "x".repeat(100_000));
    expect(lines.list(all).join("").length).toBeLessThanOrEqual(256 * 1024);
  });

  test("tells who listens, until they stop", () => {
    const lines = new RecentLines();
    const heard: string[] = [];
    const stop = lines.listen({ level: "warn", words: [] }, (text) => heard.push(text));
    lines.add("info", "a");
    lines.add("error", "b");
    stop();
    lines.add("error", "c");
    expect(heard).toEqual(["b"]);
  });
});
