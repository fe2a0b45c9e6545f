import { expect, test } from "vitest";
import { ok, problem, warning } from "./finding.ts";
import { findingLines, verdict } from "./report.ts";

test("findingLines wraps what was found and what to do, and lets nobody steer the terminal", () => {
  const lines = findingLines(problem("servers.a", `exited\u001b[2J\n${"word ".repeat(12)}`, "run it by hand"), 60);
  expect(lines[0]).toBe("PROBLEM  servers.a: exited [2J word word word word word word");
  expect(lines.at(-1)).toBe("         -> run it by hand");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
});

test("verdict says how bad it is", () => {
  const fine = ok("node", "24");
  expect(verdict([fine])).toBe("Everything is well.");
  expect(verdict([fine, warning("a", "b", "c")])).toBe("Nothing is broken; 1 of 2 checks have a remark.");
  expect(verdict([fine, problem("a", "b", "c")])).toBe("1 of 2 checks found a problem.");
});
