import { expect, test } from "vitest";
import { eventText, reportLines } from "./audit-lines.ts";

const event = (type: string, details: object, target = { server_id: "", tool_name: "" }) => ({
  timestamp: "2026-05-02T08:16:01.250Z",
  event_type: type,
  result: "DENIED",
  actor: { type: "agent", id: "unknown" },
  target,
  details,
});

test("a line about somebody who was turned away says why, at which path, and from where", () => {
  const details = { reason: "expired", method: "POST", path: "/mcp", address: "10.0.0.7" };
  expect(eventText(event("dev.isthmus.authentication_failed", details))).toBe(
    "2026-05-02T08:16:01.250Z dev.isthmus.authentication_failed DENIED unknown reason expired POST /mcp from 10.0.0.7",
  );
  const unnamed = { reason: "session", path: "/mcp", address: "" };
  expect(eventText(event("dev.isthmus.request_refused", unnamed))).toMatch(/ reason session \/mcp$/);
  const approval = { why: "own", approval: "a" };
  expect(eventText(event("dev.isthmus.approval.refused", approval))).toMatch(/ reason own$/);
});

test("a reason that is the code stands there once", () => {
  const details = { code: "NOT_ALLOWED", reason: "NOT_ALLOWED", duration_ms: 2 };
  const text = eventText(event("TOOL_BLOCKED", details, { server_id: "files", tool_name: "read" }));
  expect(text).toMatch(/ files\.read NOT_ALLOWED 2 ms$/);
});

test("what is said cannot steer a terminal", () => {
  expect(eventText(event("X", { reason: "a\u001b[2J", path: "/\u001b]0;x", address: "\u009b1" }))).not.toMatch(
    /\p{Cc}/u,
  );
});

test("one of something is called so", () => {
  const report = { isIntact: true, events: 1, blocks: 1, chains: 1, checkpoints: 1, uncovered: 1, problems: [] };
  const [intact, last] = reportLines({ ...report, removed: { blocks: 1, until: "2026" } });
  expect(intact).toBe("intact: 1 event in 1 block of 1 chain, 1 checkpoint");
  expect(last).toBe("removed because it was old: 1 block, up to 2026");
  const many = { ...report, events: 0, blocks: 70, chains: 2, checkpoints: 3, uncovered: 2 };
  expect(reportLines(many)).toEqual([
    "intact: 0 events in 70 blocks of 2 chains, 3 checkpoints",
    "no checkpoint yet; 2 blocks after it",
  ]);
  expect(reportLines(report).at(-1)).toBe("no checkpoint yet; 1 block after it");
});
