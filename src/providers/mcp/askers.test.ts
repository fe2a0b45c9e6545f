import { describe, expect, test } from "vitest";
import { toolCall } from "../../../tests/kit/fake-host.ts";
import { bytesHeldAfter } from "../../../tests/kit/held-memory.ts";
import { Askers } from "./askers.ts";

describe("Askers", () => {
  test("knows what has asked for good, and what only may have until it ran alone", () => {
    const askers = new Askers();
    const [asked, suspected] = [toolCall("asked"), toolCall("suspected")];
    askers.learn(asked);
    askers.suspect(asked);
    askers.suspect(suspected);
    expect([askers.has(asked), askers.has(suspected), askers.has(toolCall("other"))]).toEqual([true, true, false]);
    askers.acquit(asked);
    askers.acquit(suspected);
    expect([askers.has(asked), askers.has(suspected)]).toEqual([true, false]);
  });

  test("forgets the oldest of many", () => {
    const askers = new Askers();
    for (let count = 0; count <= 1000; count++) askers.learn(toolCall(`tool${count}`));
    expect([askers.has(toolCall("tool0")), askers.has(toolCall("tool1000"))]).toEqual([false, true]);
  });

  test("tells long names apart and keeps none of them", async () => {
    const askers = new Askers();
    const long = (end: string) => toolCall(`${"n".repeat(1024 * 1024)}${end}`);
    const held = await bytesHeldAfter(() => {
      for (let count = 0; count < 40; count++) askers.learn(long(`${count}`));
      for (let count = 0; count < 40; count++) askers.learn(toolCall(`${"n".repeat(1024 * 1024)}${count}`.slice(-20)));
    });
    expect([askers.has(long("7")), askers.has(long("77"))]).toEqual([true, false]);
    expect(held).toBeLessThan(10 * 1024 * 1024);
  });
});
