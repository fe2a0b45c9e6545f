import { expect, test } from "vitest";
import { toolCall } from "../../../tests/kit/fake-host.ts";
import { CallLines } from "./call-lines.ts";
import { eventLine } from "./event-line.ts";

const STAMP = { at: 0, id: "1", traceId: "t" };
const LONG = "n".repeat(1_000_000);

test.each([
  ["tool", LONG],
  ["resource", `x://${LONG}`],
  ["operation", `z/${LONG}`],
] as const)("the line of a call has the beginning of a long name of a %s", (kind, name) => {
  const call = { ...toolCall("t"), method: name, target: { provider: "p", kind, name } };
  const outcome = { code: "ok", attempt: 1, isCached: false, bytesOut: 0, durationMs: 0 } as const;
  const { line, template = "" } = new CallLines().entry(call, outcome, STAMP);
  expect(line.length + template.length).toBeLessThan(20_000);
});

test("the line of any other event has the beginning of a long name", () => {
  const actor = { type: "agent", id: "a" } as const;
  const event = {
    type: "TOOL_EXECUTED",
    tenant: "d",
    actor,
    target: { server: "p", name: LONG },
    details: {},
  } as const;
  expect(eventLine({ ...event, result: "SUCCESS" }, STAMP).length).toBeLessThan(20_000);
});
