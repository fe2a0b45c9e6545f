import { describe, expect, test } from "vitest";
import { readReport } from "../client/call-report.ts";
import { callLines, formatMs, isMeant, traceLines } from "./trace-lines.ts";

const report = readReport({
  callId: "c1",
  target: "files.read_file",
  principal: "local",
  front: "mcp",
  code: "ok",
  startedAt: "2026-01-02T03:04:05.678Z",
  durationMs: 100,
  steps: [
    { name: "trace", ms: 10 },
    { name: "provider", ms: 80 },
    { name: "rest of the answer", ms: 10 },
  ],
});

describe("traceLines", () => {
  test("draws each step where it lay in the whole", () => {
    expect(traceLines(report, 80)).toEqual([
      "call     c1",
      "target   files.read_file",
      "caller   local, through mcp",
      "started  2026-01-02T03:04:05.678Z",
      "outcome  ok after 100 ms",
      "",
      "  trace               10.00 ms  ███",
      `  provider            80.00 ms     ${"█".repeat(24)}`,
      `  rest of the answer  10.00 ms  ${" ".repeat(27)}███`,
    ]);
  });

  test("draws a call that took no time, and one without steps", () => {
    expect(traceLines({ ...report, durationMs: 0, steps: [{ name: "call", ms: 0 }] }, 80).at(-1)).toBe(
      "  call  0.00 ms  █",
    );
    expect(traceLines({ ...report, steps: [] }, 80)).toHaveLength(6);
  });

  test("fits a narrow terminal", () => {
    for (const line of traceLines(report, 60)) expect(line.length).toBeLessThanOrEqual(60);
  });
});

test("callLines shows one line per call, within the width", () => {
  const lines = callLines([report, { ...report, callId: "d-c2", target: "x".repeat(100) }], 80);
  expect(lines[1]).toBe("c1    03:04:05.678  100 ms  ok       files.read_file");
  expect(Math.max(...lines.map((line) => line.length))).toBe(80);
});

test("callLines shows the end of ids where that is enough to name a call", () => {
  const calls = ["5303-0249-12", "6a01-77-1"].map((callId) => ({ ...report, callId }));
  const ids = (shown: typeof calls) =>
    callLines(shown, 80)
      .slice(1)
      .map((line) => line.split(" ")[0]);
  expect(ids(calls)).toEqual(["12", "1"]);
  expect(calls.filter((call) => isMeant("1", call))).toEqual([calls[1]]);
  expect(calls.filter((call) => isMeant("5303-0249-12", call))).toEqual([calls[0]]);
  const alike = ["a-1", "b-1"].map((callId) => ({ ...report, callId }));
  expect(ids(alike)).toEqual(["a-1", "b-1"]);
});

test("formatMs says short times exactly and long ones shortly", () => {
  expect([0.123, 99.5, 100.4, 9_999, 61_234].map(formatMs)).toEqual([
    "0.12 ms",
    "99.50 ms",
    "100 ms",
    "9999 ms",
    "61.2 s",
  ]);
});

test("readReport takes what is wrong for missing", () => {
  expect(readReport({ callId: 5, durationMs: "x", steps: [{ name: "a" }, 7] })).toMatchObject({
    callId: "",
    durationMs: 0,
    steps: [{ name: "a", ms: 0 }],
  });
});
