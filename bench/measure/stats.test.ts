import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { asFraction, type Bar, controlDifference, judge } from "./stats.ts";

const bar: Bar = { bar: "CPU <= 3x nginx", value: 2.8, limit: 3, control: 0.02, format: String };

describe("judge", () => {
  test("passes a ratio that holds with the control's difference added", () => {
    assert.equal(judge(bar).outcome, "PASS");
  });

  test("fails a ratio that holds only without the control's difference", () => {
    assert.equal(judge({ ...bar, value: 2.9, control: 0.05 }).outcome, "FAIL");
  });

  test("decides nothing when the twins differ by more than 8 %", () => {
    assert.equal(judge({ ...bar, value: 1, control: 0.081 }).outcome, "inconclusive");
  });

  test("decides nothing without a figure or without a control", () => {
    assert.equal(judge({ ...bar, value: undefined }).outcome, "inconclusive");
    assert.equal(judge({ ...bar, control: undefined }).outcome, "inconclusive");
  });

  test("takes the control's difference off where more is better", () => {
    assert.equal(judge({ ...bar, atLeast: true, value: 0.81, limit: 0.8, control: 0.01 }).outcome, "PASS");
    assert.equal(judge({ ...bar, atLeast: true, value: 0.81, limit: 0.8, control: 0.02 }).outcome, "FAIL");
  });

  test("widens the limit by the control where it is noise that is allowed for", () => {
    assert.equal(judge({ ...bar, controlUse: "allow", value: 0.14, limit: 0.1, control: 0.05 }).outcome, "PASS");
    assert.equal(judge({ ...bar, controlUse: "allow", value: 0.16, limit: 0.1, control: 0.05 }).outcome, "FAIL");
  });
});

describe("controlDifference", () => {
  test("is the same whichever twin is the lesser", () => {
    assert.equal(controlDifference(1, 1.05), controlDifference(1.05, 1));
  });
});

test("asFraction prints a share as the bars say it", () => {
  assert.equal(asFraction(0.05), "1/20.0");
});
