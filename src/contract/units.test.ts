import { describe, expect, test } from "vitest";
import { parseBytes, parseDurationMs } from "./units.ts";

describe("parseDurationMs", () => {
  test.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["30 s", 30_000],
    ["2m", 120_000],
    ["1.5h", 5_400_000],
    ["30d", 2_592_000_000],
    ["0s", 0],
  ])("reads %s", (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  test.each(["30", "", "s", "-1s", "30 seconds", "1S", "1e3s", "1s2", "1constructor"])("refuses %j", (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  });
});

describe("parseBytes", () => {
  test.each([
    ["512B", 512],
    ["64KB", 64_000],
    ["1MiB", 1_048_576],
    ["0.5KiB", 512],
  ])("reads %s", (text, bytes) => {
    expect(parseBytes(text)).toBe(bytes);
  });

  test.each(["1", "1mb", "1 TiB", "MiB"])("refuses %j", (text) => {
    expect(parseBytes(text)).toBeUndefined();
  });
});
