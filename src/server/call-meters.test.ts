import { expect, test } from "vitest";
import type { Target } from "../contract/index.ts";
import { CallMeters } from "./call-meters.ts";

const tool = (name: string, provider = "files"): Target => ({ provider, kind: "tool", name });
const text = (meters: CallMeters) => `${meters.lines().join("\n")}\n`;
const series = (meters: CallMeters) => meters.lines().filter((line) => line.startsWith("isthmus_calls_total{"));

test("counts calls by server, tool and code, and measures how long they took", () => {
  const meters = new CallMeters();
  const read = tool("read");
  meters.of(read).finished("ok", 20);
  meters.of(read).finished("ok", 700);
  meters.of(tool("read")).finished("DEADLINE_PASSED", 40_000);
  meters.of(tool("send", "mail")).finished("tool_error", 3);
  expect(series(meters)).toEqual([
    'isthmus_calls_total{server="files",kind="tool",tool="read",code="ok"} 2',
    'isthmus_calls_total{server="files",kind="tool",tool="read",code="DEADLINE_PASSED"} 1',
    'isthmus_calls_total{server="mail",kind="tool",tool="send",code="tool_error"} 1',
  ]);
  const labels = 'server="files",kind="tool",tool="read"';
  expect(text(meters)).toContain(`isthmus_call_duration_seconds_bucket{${labels},le="0.05"} 1\n`);
  expect(text(meters)).toContain(`isthmus_call_duration_seconds_bucket{${labels},le="1"} 2\n`);
  expect(text(meters)).toContain(`isthmus_call_duration_seconds_bucket{${labels},le="+Inf"} 3\n`);
  expect(text(meters)).toContain(`isthmus_call_duration_seconds_count{${labels}} 3\n`);
});

test("never holds a caller's text: of what is no tool only its kind", () => {
  const meters = new CallMeters();
  for (const name of ["file:///a/secret", "file:///b"]) {
    meters.of({ provider: "files", kind: "resource", name }).finished("ok", 1);
  }
  meters.of({ provider: "files", kind: "operation", name: "made/up" }).finished("fault", 1);
  expect(series(meters)).toEqual([
    'isthmus_calls_total{server="files",kind="resource",tool="",code="ok"} 2',
    'isthmus_calls_total{server="files",kind="operation",tool="",code="fault"} 1',
  ]);
});

test("has a bounded number of tools of each server, and counts the rest together", () => {
  const meters = new CallMeters();
  // What is no tool takes no place of one.
  meters.of({ provider: "files", kind: "prompt", name: "p" }).finished("ok", 1);
  for (let index = 0; index < 10_000; index++) meters.of(tool(`t${index}`)).finished("ok", 1);
  meters.of(tool("x".repeat(1_000), "long")).finished("ok", 1);
  meters.of(tool("t7")).finished("ok", 1);
  expect(series(meters)).toHaveLength(53);
  expect(text(meters)).toContain('{server="files",kind="tool",tool="other",code="ok"} 9950\n');
  expect(text(meters)).toContain('{server="files",kind="tool",tool="t7",code="ok"} 2\n');
  expect(text(meters)).toContain('{server="long",kind="tool",tool="other",code="ok"} 1\n');
});

test("lets go of a server that is gone, also of what still runs on it", () => {
  const meters = new CallMeters();
  const read = tool("read");
  meters.of(read).finished("ok", 1);
  meters.forget("files");
  meters.of(read).finished("ok", 1);
  expect(series(meters)).toEqual([]);
  // One of the same name that comes later begins anew.
  meters.of(tool("read")).finished("ok", 1);
  expect(series(meters)).toEqual(['isthmus_calls_total{server="files",kind="tool",tool="read",code="ok"} 1']);
});
