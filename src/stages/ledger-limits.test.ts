import { describe, expect, test } from "vitest";
import { ManualTime } from "../../tests/kit/manual-time.ts";
import {
  type Call,
  type CallEvent,
  GatewayError,
  type Next,
  type Out,
  payload,
  type SharedState,
  type Target,
} from "../contract/index.ts";
import { HeldChargeBook, LimitBook, type LimitEntry, LocalShare, SharedDesk } from "../mechanisms/limits/index.ts";
import { createMemorySharedState, MemoryCounters } from "../stores/memory/index.ts";
import { ledgerStages } from "./ledger-stage.ts";

const TARGET: Target = { provider: "files", kind: "tool", name: "read" };
const end: CallEvent = { type: "end", outcome: "result", payload: payload('{"x":1}') };

let lastCall = 0;

function newCall(more: Partial<Call> = {}): Call {
  return {
    id: `c${++lastCall}`,
    target: TARGET,
    verb: "call",
    method: "tools/call",
    input: payload("{}"),
    principal: { id: "local" },
    session: undefined,
    origin: { front: "mcp", protocol: "2025-11-25", requestId: "1" },
    deadline: 60_000,
    life: "resumable",
    signal: new AbortController().signal,
    ...more,
  };
}

async function rig(entries: Partial<LimitEntry>[], isHeld = false) {
  const time = new ManualTime();
  const store = createMemorySharedState({ clock: time });
  await store.members.join({ id: "m", address: "" }, 1e9);
  const trips: string[] = [];
  const counted =
    <Args extends unknown[], Got>(name: string, there: (...args: Args) => Got) =>
    (...args: Args): Got => {
      trips.push(name);
      return there(...args);
    };
  const calls: SharedState["calls"] = {
    admit: counted("admit", (admission) => store.calls.admit(admission)),
    settle: counted("settle", (settlement) => store.calls.settle(settlement)),
    charge: counted("charge", (charge) => store.calls.charge(charge)),
    openOf: (session) => store.calls.openOf(session),
  };
  const state = { ...store, calls };
  const book = new LimitBook(({ provider, name }) => `${provider}.${name}`);
  book.replace(entries.map((entry) => ({ selector: {}, per: [], ...entry })));
  const held = new HeldChargeBook();
  const local = new MemoryCounters({ clock: time, isAlive: () => true });
  const desk = new SharedDesk(state, new LocalShare(local, () => 3), time);
  const planOf = (entry: { readonly target: Target }) => book.planOf(entry);
  const limits = { planOf, desk, held, isHeld: () => isHeld };
  const stageOf = ledgerStages({ state, clock: time, timers: time, member: () => "m", isShared: true, limits });
  const events: CallEvent[] = [];
  const out: Out = { write: (event) => events.push(event) > 0, ready: () => Promise.resolve() };
  let made = 0;
  const answer: Next = async (_call, to) => {
    made++;
    to.write(end);
  };
  return {
    trips,
    held,
    openOf: (session: string) => store.calls.openOf(session),
    events,
    stageOf,
    made: () => made,
    run: (call = newCall(), next = answer) => stageOf({ target: TARGET })(call, out, next),
  };
}

const LIMITED = { code: "LIMITED" };

describe("ledgerStage with limits that all processes share", () => {
  test("makes two trips for a call with all levels of limits, in a session or not", async () => {
    const rate = { capacity: 100, refill: 1, periodMs: 1_000 };
    const { run, trips } = await rig([
      { selector: { primitive: "files.read" }, rate },
      { per: ["user"], rate },
      { selector: { server: "files" }, concurrency: 5 },
      { rate, budget: 100 },
    ]);
    await run();
    expect(trips).toEqual(["admit", "settle"]);
    const session = { id: "s", isEphemeral: false } as Call["session"];
    await run(newCall({ session }));
    expect(trips).toHaveLength(4);
    await run(newCall({ once: "k" }));
    expect(trips).toHaveLength(6);
  });

  test("is for a primitive that nothing limits the same stage as ever, which makes no trip without a session", async () => {
    const { stageOf, run, trips } = await rig([{ selector: { server: "crm" }, budget: 1 }]);
    expect(stageOf({ target: TARGET })).toBe(stageOf({ target: { ...TARGET, name: "write" } }));
    await run();
    await run();
    expect(trips.length % 2).toBe(0);
  });

  test("refuses a call before it is made, and settles nothing", async () => {
    const { run, made, trips } = await rig([{ budget: 1 }]);
    await run();
    await expect(run()).rejects.toMatchObject(LIMITED);
    expect(made()).toBe(1);
    expect(trips).toEqual(["admit", "settle", "admit"]);
  });

  test("does not charge the repeat of a named call, and lets one that was refused be made later", async () => {
    const { run, made, events } = await rig([{ budget: 2 }]);
    await run(newCall({ once: "a" }));
    await run(newCall({ once: "a" }));
    await run(newCall({ once: "b" }));
    expect([made(), events.length]).toEqual([2, 3]);
    await expect(run(newCall({ once: "c" }))).rejects.toMatchObject(LIMITED);
    await run(newCall({ once: "b" }));
    expect([made(), events.length]).toEqual([2, 4]);
  });

  test.each([undefined, "key"])("frees the place of a call when it ends (name: %s)", async (once) => {
    const { run } = await rig([{ concurrency: 1 }]);
    const { promise, resolve } = Promise.withResolvers<void>();
    const running = run(newCall(once === undefined ? {} : { once }), () => promise);
    await expect(run()).rejects.toMatchObject(LIMITED);
    resolve();
    await running;
    await run();
  });

  test.each([undefined, "key"])(
    "keeps the place of a call that was broken off until its provider has let go of it (name: %s)",
    async (once) => {
      const { run, trips, openOf } = await rig([{ concurrency: 1 }]);
      const { promise: lingering, resolve } = Promise.withResolvers<void>();
      const session = { id: "s", isEphemeral: false } as Call["session"];
      const staged = { isRead: true, onAnswers: undefined, witness: undefined, lingering };
      const call = newCall({ session, run: staged, ...(once !== undefined && { once }) });
      await run(call, async (_call, to) => void to.write({ type: "error", error: new GatewayError("CANCELLED") }));
      // For everybody else it is over.
      expect(await openOf("s")).toEqual([]);
      await expect(run()).rejects.toMatchObject(LIMITED);
      resolve();
      await lingering;
      await run();
      expect(trips.filter((trip) => trip === "settle")).toHaveLength(3);
    },
  );

  test("makes a third trip for a call that was held, and takes its place only then", async () => {
    const { run, held, trips } = await rig([{ concurrency: 1, budget: 5 }], true);
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = run(newCall(), async (call) => {
      await promise;
      await held.take(call);
    });
    await run(newCall(), (call) => held.take(call));
    expect(trips).toEqual(["admit", "admit", "charge", "settle"]);
    resolve();
    await first;
    await run(newCall(), (call) => held.take(call));
    expect(trips.filter((trip) => trip === "charge")).toHaveLength(3);
  });
});
