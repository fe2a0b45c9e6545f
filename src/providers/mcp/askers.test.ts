import { describe, expect, test } from "vitest";
import { toolCall } from "../../../tests/kit/fake-host.ts";
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
});
