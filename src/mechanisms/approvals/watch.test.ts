import { expect, test, vi } from "vitest";
import { ApprovalRig, person } from "../../../tests/kit/approval-rig.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import type { Channel } from "../../contract/index.ts";
import { ApprovalWatch } from "./watch.ts";

const settle = () => new Promise(setImmediate);

/** Two processes over the same rows. `isDeaf`: what is said is lost. */
function processes(isDeaf = false) {
  const rig = new ApprovalRig();
  const listeners = new Set<(text: string) => void>();
  const channel: Channel = {
    publish: (_topic, text) => {
      if (!isDeaf) for (const hear of listeners) hear(text);
    },
    subscribe: async (_topic, hear) => {
      listeners.add(hear);
      return async () => void listeners.delete(hear);
    },
  };
  const time = new ManualTime();
  const make = () => new ApprovalWatch({ rows: rig.rows, channel, timers: time, log: new KeptLog() });
  return { rig, time, here: make(), there: make(), listeners };
}

async function approved(rig: ApprovalRig, id: string) {
  const change = { table: "approval", type: "move", id, from: "waiting", to: "approved", now: rig.time.now() } as const;
  await rig.rows.write([{ ...change, by: "ops", given: "operator" }]);
  const found = await rig.rows.get(id);
  if (!found) throw new Error("gone");
  return found;
}

test("a decision in another process is heard at once", async () => {
  const { rig, here, there, listeners } = processes();
  const approval = await rig.request("{}");
  const waiting = here.change(approval, 60_000);
  await settle();
  there.changed(await approved(rig, approval.id));
  expect(await waiting).toMatchObject({ state: "approved" });
  await here.close();
  expect(listeners.size).toBe(0);
});

test("a decision that was not heard of is seen within a second", async () => {
  const { rig, time, here, there } = processes(true);
  const approval = await rig.request("{}");
  const waiting = here.change(approval, 60_000);
  there.changed(await approved(rig, approval.id));
  time.advance(1_000);
  expect(await waiting).toMatchObject({ state: "approved" });
  expect(time.pending).toBe(0);
});

test("a store that does not answer is asked again", async () => {
  const { rig, time, here } = processes(true);
  const approval = await rig.request("{}");
  const states = rig.rows.states.bind(rig.rows);
  const get = rig.rows.get.bind(rig.rows);
  const away = () => Promise.reject(new Error("away"));
  rig.rows.states = away;
  const waiting = here.change(approval, 60_000);
  time.advance(1_000);
  await settle();
  await approved(rig, approval.id);
  rig.rows.states = states;
  rig.rows.get = away;
  time.advance(1_000);
  await settle();
  rig.rows.get = get;
  time.advance(1_000);
  expect(await waiting).toMatchObject({ state: "approved" });
});

test("many are looked at in few questions, and none is read whole that has not changed", async () => {
  const { rig, time, here } = processes(true);
  const asked = await Promise.all(
    Array.from({ length: 250 }, (_, n) => rig.request("{}", { principal: person(`agent-${n}`) })),
  );
  const waiting = asked.map((approval) => here.change(approval, 60_000));
  const [last] = asked.slice(-1);
  await approved(rig, last?.id ?? "");
  const states = vi.spyOn(rig.rows, "states");
  const get = vi.spyOn(rig.rows, "get");
  time.advance(1_000);
  expect(await waiting.at(-1)).toMatchObject({ id: last?.id, state: "approved" });
  expect(states.mock.calls.map(([ids]) => ids.length)).toEqual([100, 100, 50]);
  expect(get.mock.calls).toEqual([[last?.id]]);
  here.leave();
  expect((await Promise.all(waiting)).map((seen) => seen?.id)).toEqual(asked.map(({ id }) => id));
});

test("who waits at a process that stops gets it as it is", async () => {
  const { rig, here } = processes();
  const approval = await rig.request("{}");
  const waiting = here.change(approval, 60_000);
  here.leave();
  expect(await waiting).toEqual(approval);
  expect(await here.change(approval, 60_000)).toBe(approval);
});

test("who waits in vain gets it as it was, and leaves nothing behind", async () => {
  const { rig, time, here } = processes();
  const approval = await rig.request("{}");
  const waiting = here.change(approval, 500);
  time.advance(500);
  expect(await waiting).toBe(approval);
  expect([time.pending, here.count(approval.id)]).toEqual([0, 0]);
});

test("knows whether anybody is there for the answers of the calls that wait here, and of no others", async () => {
  const { rig, here, there } = processes();
  const approval = await rig.request("{}");
  const [first, second] = [{ isRead: true }, { isRead: true }];
  expect(here.connection(approval.id)).toBeUndefined();
  void here.change(approval, 60_000);
  expect(here.connection(approval.id)).toBeUndefined();
  for (const one of [first, second]) void here.change(approval, 60_000, { isRead: () => one.isRead });
  first.isRead = false;
  expect([here.connection(approval.id), there.connection(approval.id)]).toEqual(["open", undefined]);
  second.isRead = false;
  expect(here.connection(approval.id)).toBe("closed");
});
