import { expect, test } from "vitest";
import { person } from "../../../tests/kit/approval-rig.ts";
import { HeldCalls } from "./held-calls.ts";

const overloaded = expect.objectContaining({ code: "OVERLOADED" });

test("of one caller 200 are held, and another one when one of them is held no longer", () => {
  const held = new HeldCalls();
  const leave = held.enter(person("ann"));
  for (let number = 1; number < 200; number++) held.enter(person("ann"));
  expect(() => held.enter(person("ann"))).toThrow(overloaded);
  expect(() => held.enter(person("ann"))).toThrow("This caller has 200 calls that wait for an approval.");
  held.enter(person("bob"));
  held.enter(person("ann", { tenant: "acme" }));
  leave();
  held.enter(person("ann"));
  expect(() => held.enter(person("ann"))).toThrow(overloaded);
});

test("of all callers 1,000 are held", () => {
  const held = new HeldCalls();
  const leave = held.enter(person("first"));
  for (let number = 1; number < 1_000; number++) held.enter(person(`caller-${number}`));
  expect(() => held.enter(person("last"))).toThrow(overloaded);
  leave();
  held.enter(person("last"));
});
