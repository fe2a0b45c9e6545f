import { describe, expect, test } from "vitest";
import type { Next, Stage } from "../contract/index.ts";
import { Pipelines } from "./pipelines.ts";

const first: Stage = (call, out, next) => next(call, out);
const second: Stage = (call, out, next) => next(call, out);
const last: Next = () => Promise.resolve();
const otherLast: Next = () => Promise.resolve();

describe("Pipelines", () => {
  const pipelines = new Pipelines({ now: () => 0 });

  test("gives the same pipeline for the same steps", () => {
    expect(pipelines.of([first, second], last)).toBe(pipelines.of([first, second], last));
    expect(pipelines.of([], last)).toBe(pipelines.of([], last));
  });

  test.each([
    ["other stages", [first], last],
    ["another order", [second, first], last],
    ["another end", [first, second], otherLast],
    ["no stages", [], last],
  ])("gives another pipeline for %s", (_, stages, end) => {
    expect(pipelines.of(stages, end)).not.toBe(pipelines.of([first, second], last));
  });
});
