import { expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { flush } from "../../../tests/kit/test-kernel.ts";
import type { Member } from "../../contract/index.ts";
import { createMemorySharedState } from "../../stores/memory/index.ts";
import { LiveMemberCount } from "./live-member-count.ts";

async function rig() {
  const time = new ManualTime();
  const { members } = createMemorySharedState({ clock: time });
  const health = { isUp: true, isWanted: true, looks: 0 };
  const list = async (): Promise<readonly Member[]> => {
    health.looks++;
    if (!health.isUp) throw new Error("away");
    return await members.list();
  };
  const watched = Object.assign(Object.create(members), { list });
  const count = new LiveMemberCount({ members: watched, timers: time, isWanted: () => health.isWanted });
  const join = (id: string) => members.join({ id, address: "" }, 1e9);
  const pass = async () => {
    time.advance(2_000);
    await flush();
  };
  const leave = (id: string) => members.leave(id);
  return { time, count, health, join, leave, pass };
}

test("knows within seconds how many there are, and goes by what it knew while nobody answers", async () => {
  const { count, health, join, pass } = await rig();
  expect(count.last).toBeUndefined();
  count.open();
  for (const id of ["a", "b", "c"]) await join(id);
  await pass();
  expect(count.last).toBe(3);
  health.isUp = false;
  await join("d");
  await pass();
  expect(count.last).toBe(3);
  health.isUp = true;
  await pass();
  expect(count.last).toBe(4);
  count.close();
});

test("does not know how many there are before it has looked, nor after a time in which nobody wanted to know", async () => {
  const { count, health, join, pass } = await rig();
  for (const id of ["a", "b"]) await join(id);
  health.isWanted = false;
  count.open();
  await pass();
  health.isWanted = true;
  expect(count.last).toBeUndefined();
  await pass();
  expect(count.last).toBe(2);
  health.isWanted = false;
  await pass();
  expect(count.last).toBeUndefined();
  count.close();
});

test("believes in fewer only when they were seen for a while: after an outage processes come back one by one", async () => {
  const { count, join, leave, pass } = await rig();
  for (const id of ["a", "b", "c"]) await join(id);
  count.open();
  await pass();
  for (const id of ["b", "c"]) await leave(id);
  for (let look = 0; look < 7; look++) await pass();
  expect(count.last).toBe(3);
  await join("b");
  await pass();
  expect(count.last).toBe(2);
  count.close();
});

test("asks nobody where nothing depends on it, and leaves no timer", async () => {
  const { time, count, health, pass } = await rig();
  health.isWanted = false;
  count.open();
  await pass();
  await pass();
  expect(health.looks).toBe(0);
  count.close();
  expect(time.pending).toBe(0);
});
