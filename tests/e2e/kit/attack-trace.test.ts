import { describe, expect, test } from "vitest";
import { expectTrace, type SeenEvent } from "../../kit/attack-trace.ts";

const event: SeenEvent = {
  type: "dev.isthmus.request_refused",
  actor: { id: "eve" },
  target: { server: "", name: "open" },
  result: "DENIED",
  details: { reason: "session", path: "/mcp" },
};
const trace = { type: event.type, why: "session", actor: "eve", name: "open", details: { path: "/mcp" } };

describe("the trace of an attack", () => {
  test("is found where the event says who, what and why", () => {
    expect(() => expectTrace([event], trace, ["a secret of many letters"])).not.toThrow();
  });

  test.each<[string, Partial<SeenEvent>]>([
    ["there is another event", { type: "TOOL_EXECUTED" }],
    ["somebody else is blamed", { actor: { id: "ann" } }],
    ["it is about something else", { target: { server: "", name: "close" } }],
    ["it gives another reason", { details: { reason: "name", path: "/mcp" } }],
    ["it lacks a detail", { details: { reason: "session" } }],
    ["it says that the attack succeeded", { result: "SUCCESS" }],
  ])("is missed where %s", (_what, change) => {
    expect(() => expectTrace([{ ...event, ...change }], trace)).toThrow();
  });

  test.each([
    ["what was shown", "a-secret-of-many-letters"],
    ["the signature of what was shown", "signature-of-many-letters"],
    ["any token of the gateway", "isth_AAAAAAAAAAAA"],
    ["any signed token", "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhZGEifQ"],
  ])("is no good where an event beside it holds %s", (_what, secret) => {
    const beside = { ...event, details: { note: `it was ${secret}!` } };
    const shown = ["a-secret-of-many-letters", "header.payload.signature-of-many-letters"];
    expect(() => expectTrace([event, beside], trace, shown)).toThrow();
  });
});
