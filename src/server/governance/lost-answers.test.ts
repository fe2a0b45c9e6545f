import { describe, expect, test } from "vitest";
import type { AuditEvent, AuditTrail } from "../../contract/index.ts";
import { noteLost } from "./lost-answers.ts";

const PRINCIPAL = { id: "token:acme/ada/1" };

function noted(plain: "all" | "decisions"): AuditEvent[] {
  const events: AuditEvent[] = [];
  const trail: AuditTrail = { note: (event) => void events.push(event), commit: () => Promise.resolve(true) };
  const target = { server: "files", name: "echo" };
  noteLost(trail, { plain })({ principal: PRINCIPAL, method: "tools/call", target, traceId: "t-1" });
  return events;
}

describe("a call of a process that is gone", () => {
  test("is on the trail with its trace when its caller is told that nobody knows how it ended", () => {
    expect(noted("all")).toMatchObject([
      {
        type: "dev.isthmus.call.lost",
        actor: { id: PRINCIPAL.id },
        target: { server: "files", name: "echo" },
        result: "FAILURE",
        traceId: "t-1",
        details: { code: "OUTCOME_UNKNOWN", method: "tools/call" },
      },
    ]);
  });

  test("is not there where only decisions are recorded", () => {
    expect(noted("decisions")).toEqual([]);
  });
});
