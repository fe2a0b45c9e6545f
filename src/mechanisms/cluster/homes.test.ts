import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../../tests/kit/quiet.ts";
import type { SharedState } from "../../contract/index.ts";
import { createMemorySharedState } from "../../stores/memory/index.ts";
import { createHomes, type HomeState } from "./homes.ts";
import { createMembership } from "./membership.ts";

const LEASE = 900;

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A store on whose channel nothing is said or heard. */
function deafened(state: SharedState): SharedState {
  return { ...state, channel: { publish() {}, subscribe: () => Promise.reject(new Error("deaf")) } };
}

/** Processes with clocks of their own, all at one store. */
function cluster() {
  const storeTime = new ManualTime();
  const state = createMemorySharedState({ clock: storeTime });
  const times: ManualTime[] = [storeTime];
  return {
    state,
    async process(own: SharedState = state) {
      const time = new ManualTime();
      times.push(time);
      const log = new KeptLog();
      const membership = createMembership({
        ...{ state: own, clock: time, timers: time, log, meter: new KeptMeter() },
        ...{ address: `127.0.0.1:${times.length}`, leaseMs: LEASE },
      });
      await membership.open();
      const homes = createHomes({ state: own, membership, timers: time, log });
      const heard: HomeState[] = [];
      return { time, membership, homes, heard, hear: (home: HomeState) => void heard.push(home) };
    },
    async pass(ms: number, without?: ManualTime) {
      for (let at = 0; at < ms; at += 50) {
        for (const time of times) if (time !== without) time.advance(50);
        await turns();
      }
    },
  };
}

describe("a home", () => {
  test("is one process, and all others know which", async () => {
    const { process, state } = cluster();
    const [a, b, c] = [await process(), await process(), await process()];
    a.homes.watch("files", a.hear);
    b.homes.watch("files", b.hear);
    c.homes.watch("files", c.hear);
    await turns();
    expect(a.heard).toEqual(["mine"]);
    expect(b.heard).toEqual([{ elsewhere: a.membership.self }]);
    expect(c.heard).toEqual([{ elsewhere: a.membership.self }]);
    expect((await state.entries.get("home:files"))?.home).toEqual(a.membership.self);
  });

  test("stays while its process lives", async () => {
    const { process, pass } = cluster();
    const [a, b] = [await process(), await process()];
    a.homes.watch("files", a.hear);
    b.homes.watch("files", b.hear);
    await pass(5 * LEASE);
    expect([a.heard, b.heard]).toEqual([["mine"], [{ elsewhere: a.membership.self }]]);
  });

  test("moves when its process is gone, to one of the others", async () => {
    const { process, pass, state } = cluster();
    const [a, b, c] = [await process(deafened(state)), await process(), await process()];
    a.homes.watch("files", a.hear);
    b.homes.watch("files", b.hear);
    c.homes.watch("files", c.hear);
    await turns();
    await pass(2 * LEASE, a.time); // a stands still
    const others = [b.heard.at(-1), c.heard.at(-1)];
    expect(others.filter((home) => home === "mine")).toHaveLength(1);
    const winner = others[0] === "mine" ? b : c;
    expect((winner === b ? c : b).heard.at(-1)).toEqual({ elsewhere: winner.membership.self });
    // a goes on: it gives up before it looks again.
    a.time.advance(LEASE);
    expect(a.heard).toEqual(["mine", "nobody"]);
    await pass(LEASE);
    expect(a.heard).toEqual(["mine", "nobody", { elsewhere: winner.membership.self }]);
  });

  test("that is given up in good order moves at once, and not before it has ended", async () => {
    const { process } = cluster();
    const [a, b] = [await process(), await process()];
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    a.homes.watch("files", (home) => {
      a.hear(home);
      return home === "nobody" ? ended : undefined;
    });
    await turns();
    b.homes.watch("files", b.hear);
    await turns();
    const left = a.homes.leave(() => true);
    await turns();
    expect(a.heard).toEqual(["mine", "nobody"]);
    expect(b.heard).toEqual([{ elsewhere: a.membership.self }]);
    end();
    await left;
    await turns();
    expect(b.heard).toEqual([{ elsewhere: a.membership.self }, "mine"]);
    await a.homes.leave(() => true);
  });

  test("that was lost is not begun again before it has ended", async () => {
    const { process, pass, state } = cluster();
    const a = await process();
    let end = () => {};
    a.homes.watch("files", (home) => {
      a.hear(home);
      return home === "nobody"
        ? new Promise<void>((resolve) => {
            end = resolve;
          })
        : undefined;
    });
    await turns();
    await state.members.leave(a.membership.self.id);
    await pass(2 * LEASE);
    expect(a.heard).toEqual(["mine", "nobody"]);
    end();
    await pass(LEASE);
    expect(a.heard).toEqual(["mine", "nobody", "mine"]);
  });

  test("is looked for where nothing can be heard", async () => {
    const { process, pass, state } = cluster();
    const [a, b] = [await process(deafened(state)), await process(deafened(state))];
    const stop = a.homes.watch("files", a.hear);
    await turns();
    b.homes.watch("files", b.hear);
    await turns();
    await stop();
    await pass(LEASE / 3 + 50);
    expect(b.heard).toEqual([{ elsewhere: a.membership.self }, "mine"]);
  });

  test("goes on although its listener throws, whatever that returns", async () => {
    const { process, pass, state } = cluster();
    const a = await process();
    a.homes.watch("files", (home) => {
      a.hear(home);
      if (home === "nobody") throw new Error("broken");
      return true as never;
    });
    await turns();
    await state.members.leave(a.membership.self.id);
    await pass(2 * LEASE);
    expect(a.heard).toEqual(["mine", "nobody", "mine"]);
  });

  test("is not left while it is in use, also where that began after somebody wanted to leave", async () => {
    const { process, state, pass } = cluster();
    const [a, b] = [await process(), await process()];
    a.homes.watch("files", a.hear);
    b.homes.watch("files", b.hear);
    await turns();
    let isUsed = false;
    await pass(LEASE / 3 - 50);
    const left = a.homes.leave(() => !isUsed);
    isUsed = true;
    await left;
    expect(a.heard).toEqual(["mine"]);
    await pass(LEASE);
    expect((await state.entries.get("home:files"))?.home).toEqual(a.membership.self);
    isUsed = false;
    await a.homes.leave(() => !isUsed);
    await turns();
    expect([a.heard.at(-1), b.heard.at(-1)]).toEqual(["nobody", "mine"]);
  });

  test("is nobody's at once when it is left: whatever begins next finds none", async () => {
    const { process } = cluster();
    const a = await process();
    a.homes.watch("files", a.hear);
    await turns();
    const found: unknown[] = [];
    await a.homes.leave(() => {
      // As a call that goes on with an answer which came together with ours.
      queueMicrotask(() => found.push(a.heard.at(-1)));
      return true;
    });
    expect(found).toEqual(["nobody"]);
  });

  test("leaves no timer behind", async () => {
    const { process } = cluster();
    const a = await process();
    a.homes.watch("files", a.hear);
    await turns();
    await a.homes.leave(() => true);
    await a.membership.leave();
    expect(a.time.pending).toBe(0);
  });
});
