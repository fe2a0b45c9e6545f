import { describe, expect, test } from "vitest";
import { failedCall, readFailedCalls } from "./failed-calls.ts";

describe("readFailedCalls", () => {
  test("finds what the driver told among other lines, as failed checks", () => {
    const stderr = `{"level":"info"}\n${failedCall("add", new Error("no\nanswer"))}${failedCall("sub", "late")}bye\n`;
    expect(readFailedCalls(stderr)).toEqual([
      { id: "call-add", status: "FAILURE", errorMessage: "Error: no answer" },
      { id: "call-sub", status: "FAILURE", errorMessage: "late" },
    ]);
  });

  test("finds nothing in a log without failed calls", () => {
    expect(readFailedCalls('{"message":"call failed: add: no"}\n')).toEqual([]);
  });
});
