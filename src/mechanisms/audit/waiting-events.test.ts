import { expect, test } from "vitest";
import { bytesHeldAfter } from "../../../tests/kit/held-memory.ts";
import { WaitingEvents } from "./waiting-events.ts";

const entry = (line: string, template?: string, filler?: string) => ({
  ...{ line, template, filler },
  ...{ at: 0, trace: 0, terms: [] },
});

test("what events have in common is counted with the first and let go with the last of them", () => {
  const waiting = new WaitingEvents();
  waiting.add([entry("1", "template", "fill"), entry("22", "template", "fill"), entry("333")]);
  expect(waiting.size).toBe(1 + 2 + 3 + 8 + 4);
  waiting.drop(1);
  expect(waiting.size).toBe(2 + 3 + 8 + 4);
  waiting.add([entry("4444", "other")]);
  waiting.takeBack(1);
  expect(waiting.size).toBe(2 + 3 + 8 + 4);
  waiting.drop(1);
  expect([waiting.size, waiting.count, waiting.list]).toEqual([3, 1, [entry("333")]]);
  waiting.takeBack(1);
  expect([waiting.size, waiting.count]).toEqual([0, 0]);
});

test("what comes in many copies is held once", async () => {
  const waiting = new WaitingEvents();
  const held = await bytesHeldAfter(() => {
    // A text of its own each time: what is cut off a longer one would hold that.
    for (let count = 0; count < 2_000; count++) waiting.add([entry("1", Buffer.alloc(8_000, "t").toString())]);
  });
  expect(waiting.size).toBe(2_000 + 8_000);
  expect(held).toBeLessThan(2_000_000);
});
