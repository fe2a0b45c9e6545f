import { expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { describeSharedState } from "../../../tests/kit/shared-state/shared-state-suite.ts";
import { ExpiringMap } from "./expiring-map.ts";
import { createMemorySharedState } from "./memory-shared-state.ts";

describeSharedState("memory", async () => {
  const clock = new ManualTime();
  const state = createMemorySharedState({ clock });
  return {
    here: state,
    there: state,
    elapse: async (ms) => clock.advance(ms),
    jump: async (ms) => clock.advance(ms),
    close: () => state.close(),
  };
});

test("a call is forgotten a minute after the time it may run", async () => {
  const clock = new ManualTime();
  const { calls } = createMemorySharedState({ clock });
  await calls.admit({ call: "c", member: "m", session: "s", facts: "", ttlMs: 1_000 });
  clock.advance(60_999);
  expect(await calls.openOf("s")).toHaveLength(1);
  clock.advance(1);
  expect(await calls.openOf("s")).toEqual([]);
});

test("what has ended takes no room once others come", () => {
  const clock = new ManualTime();
  const map = new ExpiringMap<number>(clock);
  for (let index = 0; index < 100; index += 1) map.set(`old-${index}`, index, 1_000);
  expect(map.size).toBe(100);
  clock.advance(60_000);
  map.set("new", 0, 1_000);
  expect(map.size).toBe(1);
});
