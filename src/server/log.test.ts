import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { refuseRepeatedKeys } from "../contract/index.ts";
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
    for (let line = 0; line < 8; line++) log.info("big", { text: "x".repeat(8 * 1024) });
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

  test("has each key once, whatever the fields of a line and of its scopes are called", () => {
    const name = fc.oneof(
      fc.constantFrom("time", "level", "message", "message_", "provider", "session", "__proto__", "toString"),
      fc.string(),
    );
    const value = fc.oneof(fc.string(), fc.integer(), fc.constant(undefined), fc.constant(null), fc.object());
    const fields = fc.dictionary(name, value);
    fc.assert(
      fc.property(fields, fields, fields, fc.string(), (outer, inner, own, message) => {
        writes = [];
        makeLog().child(outer).child(inner).warn(message, own);
        const [line = ""] = writes;
        expect(() => refuseRepeatedKeys(line.trimEnd())).not.toThrow();
        const read = JSON.parse(line);
        expect(read).toMatchObject({ time: "2026-01-02T03:04:05.678Z", level: "warn" });
        expect(read.message).toBe(message);
      }),
    );
  });

  test("shows the field of a line where its scope has one of the same name, and gives one called message another", () => {
    const log = makeLog().child({ provider: "crm", message: "scope" });
    log.warn("one", { provider: "mail", time: "noon" });
    log.warn("two", { provider: undefined });
    expect(writes.join("")).toBe(
      '{"time":"2026-01-02T03:04:05.678Z","level":"warn","message":"one","provider":"mail","message_":"scope","time_":"noon"}\n' +
        '{"time":"2026-01-02T03:04:05.678Z","level":"warn","message":"two","provider":"crm","message_":"scope"}\n',
    );
  });

  test("loses no field to the name that another one gets", () => {
    makeLog().warn("line", { message: "a", message_: "b" });
    expect(JSON.parse(lines()[0] as string)).toMatchObject({ message: "line", message__: "a", message_: "b" });
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

  test.each(["json", "pretty"] as const)("cuts texts, lists and errors that are very long, as %s", (format) => {
    const log = makeLog({ format });
    const long = "x".repeat(900_000);
    const names = Array.from({ length: 20 }, () => long);
    for (const value of [long, `${long} `, names, { names }, new Error(long)])
      log.info("listed", { value, other: "here" });
    log.child({ value: long }).info("listed", { other: "here" });
    log.flush();
    expect(lines()).toHaveLength(6);
    for (const line of lines()) {
      expect(line.length).toBeLessThan(20_000);
      expect(line).toMatch(/xxx.* characters\).*here|here.*xxx.* characters\)/);
      if (format === "json") expect(JSON.parse(line)).toMatchObject({ message: "listed", other: "here" });
    }
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
