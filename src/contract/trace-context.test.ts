import { describe, expect, test } from "vitest";
import { formatTraceparent, parseTraceparent } from "./trace-context.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

describe("traceparent", () => {
  test("is read and written", () => {
    const context = parseTraceparent(`00-${TRACE}-${SPAN}-01`);
    expect(context).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
    expect(context && formatTraceparent(context)).toBe(`00-${TRACE}-${SPAN}-01`);
  });

  test("is sampled by its lowest flag alone", () => {
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-02`)?.isSampled).toBe(false);
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-03`)?.isSampled).toBe(true);
  });

  test("may have more parts in a later version", () => {
    expect(parseTraceparent(`01-${TRACE}-${SPAN}-01-more`)?.traceId).toBe(TRACE);
  });

  test.each([
    undefined,
    "",
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `01-${TRACE}-${SPAN}-01-${"x".repeat(1000)}`,
  ])("is nothing when it is not valid: %s", (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });
});
