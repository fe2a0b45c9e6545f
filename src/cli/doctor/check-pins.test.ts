import { describe, expect, test } from "vitest";
import type { PinnedTool } from "../../server/pin-file-of.ts";
import { describePins } from "./check-pins.ts";

function pin(name: string, mode: "report" | "block" | "off" | undefined, isChanged: boolean): PinnedTool {
  const changes = isChanged ? [{ since: "2026-01-01", what: ["description"], members: [] }] : [];
  return { name, server: "a", kind: "tool", own: name, since: "2025-01-01", changes, ...(mode && { mode }) };
}

describe("describePins", () => {
  test("says nothing where nothing is remembered", () => {
    expect(describePins(undefined)).toEqual([]);
  });

  test("names what has changed and what is held back, and leaves out what nobody watches", () => {
    const pins = [pin("a.same", "block", false), pin("a.new", "report", true), pin("a.held", "block", true)];
    const [finding] = describePins({
      file: "p",
      pins: [...pins, pin("a.off", "off", true), pin("a.gone", undefined, true)],
    });
    expect(finding).toMatchObject({ level: "warning", found: "changed since first seen (1 held back): a.new, a.held" });
  });

  test("is content when nothing has changed, and not with a file that cannot be read", () => {
    expect(describePins({ file: "p", pins: [pin("a.b", "block", false)] })[0]).toMatchObject({ level: "ok" });
    expect(describePins({ file: "p", pins: [], problem: "p is broken" })[0]).toMatchObject({ level: "problem" });
  });
});

test("a file that this user may not read is never to be moved away", () => {
  const report = (problem: string) => describePins({ file: "pins.json", pins: [], problem })[0];
  for (const code of ["EACCES", "EPERM"]) {
    expect(report(`pins.json cannot be read (${code})`)).toEqual({
      level: "warning",
      what: "pins",
      found: `pins.json cannot be read (${code})`,
      advice: "run doctor as the user that runs the gateway, or let this one read the file",
    });
  }
  expect(report("pins.json is not JSON")).toMatchObject({ level: "problem", advice: expect.stringContaining("move") });
});
