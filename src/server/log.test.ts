import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Secret } from "./config/secret.ts";
import { createLog, type LogOptions } from "./log.ts";

describe("createLog", () => {
  let writes: string[] = [];
  const makeLog = (options: Partial<LogOptions> = {}) =>
    createLog({
      level: "info",
      format: "json",
      now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678),
      write: (text) => writes.push(text),
      ...options,
    });
  const lines = () => writes.join("").trimEnd().split("\n");

  beforeEach(() => {
    writes = [];
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("writes one JSON object per line, with time, level, message and fields", () => {
    const log = makeLog();
    log.info("call finished", { callId: "c1", durationMs: 1.5, code: undefined });
    log.flush();
    expect(writes).toEqual([
      '{"time":"2026-01-02T03:04:05.678Z","level":"info","message":"call finished","callId":"c1","durationMs":1.5}\n',
    ]);
  });

  test("collects lines for 50 ms and writes them together", () => {
    const log = makeLog();
    log.info("one");
    log.info("two");
    vi.advanceTimersByTime(49);
    expect(writes).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(writes).toHaveLength(1);
    expect(lines()).toHaveLength(2);
  });

  test("writes at once when 64 KiB are collected", () => {
    const log = makeLog();
    log.info("big", { text: "x".repeat(64 * 1024) });
    expect(writes).toHaveLength(1);
  });

  test.each(["warn", "error"] as const)("writes a line of level %s at once, after those before it", (level) => {
    const log = makeLog();
    log.info("first");
    log[level]("second");
    expect(lines().map((line) => JSON.parse(line).message)).toEqual(["first", "second"]);
  });

  test("leaves out what is below its level", () => {
    const log = makeLog({ level: "warn" });
    log.debug("no");
    log.info("no");
    log.child({ a: 1 }).info("no");
    log.flush();
    expect(writes).toEqual([]);
  });

  test("gives a child's fields to each of its lines", () => {
    const log = makeLog().child({ provider: "crm" }).child({ attempt: 2 });
    log.warn("provider unreachable", { cause: "refused" });
    expect(JSON.parse(lines()[0] as string)).toMatchObject({ provider: "crm", attempt: 2, cause: "refused" });
  });

  test("prints errors with their causes, and what JSON cannot hold as text", () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const cause = new Error("outer", { cause: new TypeError("inner") });
    makeLog().error("internal", { cause, circular, big: 1n, call: () => {} });
    const line = JSON.parse(lines()[0] as string);
    expect(line.cause).toMatchObject({
      name: "Error",
      message: "outer",
      cause: { name: "TypeError", message: "inner" },
    });
    expect(line).toMatchObject({ circular: "[object Object]", big: "1" });
  });

  test.each(["json", "pretty"] as const)("keeps a secret out of the %s form", (format) => {
    makeLog({ format }).warn("with secret", { token: new Secret("hunter2"), headers: { a: new Secret("hunter2") } });
    expect(writes.join("")).not.toContain("hunter2");
    expect(writes.join("")).toContain("[secret]");
  });

  test("writes one aligned line for a person, with foreign text in quotes", () => {
    const log = makeLog({ format: "pretty" });
    log.info("call finished", { target: "files/read", message: "a\nb\u001b[2J" });
    log.flush();
    expect(writes.join("")).toBe(
      '03:04:05.678       call finished            target=files/read message="a\\nb\\u001b[2J"\n',
    );
  });
});
