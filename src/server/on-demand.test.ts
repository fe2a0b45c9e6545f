import { expect, test } from "vitest";
import { OnDemand } from "./on-demand.ts";

test("is made once, when it is first wanted", async () => {
  let made = 0;
  const thing = new OnDemand(async () => ++made);
  expect(thing.present).toBeUndefined();
  expect(await Promise.all([thing.get(), thing.get()])).toEqual([1, 1]);
  expect(thing.present).toBe(1);
});

test("tells whoever wanted it why it could not be made, and is tried again", async () => {
  let tries = 0;
  const thing = new OnDemand(async () => {
    if (++tries === 1) throw new Error("no such file");
    return "there";
  });
  await expect(thing.get()).rejects.toThrow("no such file");
  expect(thing.present).toBeUndefined();
  expect(await thing.get()).toBe("there");
});
