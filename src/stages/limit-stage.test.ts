import { describe, expect, test } from "vitest";
import { ManualTime } from "../../tests/kit/manual-time.ts";
import { type Call, GatewayError, type Next, type Out, payload, type Target } from "../contract/index.ts";
import { HeldChargeBook, LimitBook, type LimitEntry } from "../mechanisms/limits/index.ts";
import { MemoryCounters } from "../stores/memory/index.ts";
import { limitStages } from "./limit-stage.ts";

const TARGET: Target = { provider: "files", kind: "tool", name: "read" };
const out: Out = { write: () => true, ready: () => Promise.resolve() };

let lastCall = 0;

function newCall(): Call {
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
  };
}

function rig(entry: Partial<LimitEntry>, isHeld = false) {
  const clock = new ManualTime();
  const book = new LimitBook(({ provider, name }) => `${provider}.${name}`);
  book.replace([{ selector: {}, per: [], ...entry }]);
  const held = new HeldChargeBook();
  const counters = new MemoryCounters({ clock, isAlive: () => true });
  const stageOf = limitStages({
    planOf: (entry) => book.planOf(entry),
    counters,
    held,
    isHeld: () => isHeld,
    member: () => "m",
  });
  const stage = stageOf({ target: TARGET });
  if (!stage) throw new Error("there is no stage");
  const made: Call[] = [];
  const answer: Next = async (call) => void made.push(call);
  return { clock, book, held, made, stageOf, run: (call = newCall(), next = answer) => stage(call, out, next) };
}

const places = { code: "LIMITED", details: { level: "global", retryAfterMs: 1_000 } };

describe("limitStage", () => {
  test("is in no pipeline that nothing limits, and in those that are limited alike the same", () => {
    const { book, stageOf } = rig({ selector: { server: "files" }, budget: 1 });
    expect(stageOf({ target: { ...TARGET, provider: "crm" } })).toBeUndefined();
    expect(stageOf({ target: { ...TARGET, name: "write" } })).toBe(stageOf({ target: TARGET }));
    book.replace([]);
    expect(stageOf({ target: TARGET })).toBeUndefined();
  });

  test("refuses a call over the rate before anything is done for it, and lets one through when its time has come [AP-185]", async () => {
    const { clock, run, made } = rig({ rate: { capacity: 2, refill: 1, periodMs: 1_000 } });
    await run();
    await run();
    const refused = await run().catch((error: unknown) => error);
    expect(GatewayError.is(refused)).toBe(true);
    expect(refused).toMatchObject({ code: "LIMITED", details: { level: "global", retryAfterMs: 1_000 } });
    expect(made).toHaveLength(2);
    clock.advance(1_000);
    await run();
    expect(made).toHaveLength(3);
  });

  test("says of a spent budget that waiting does not help", async () => {
    const { run } = rig({ budget: 1, per: ["user"] });
    await run();
    await expect(run()).rejects.toMatchObject({
      message: "The budget of this user is spent. Waiting does not help: only the operator can raise it.",
      details: { level: "user" },
    });
  });

  test("frees the place of a call when it ends, also when it fails", async () => {
    const { run } = rig({ concurrency: 1 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const running = run(newCall(), () => promise);
    await expect(run()).rejects.toMatchObject(places);
    resolve();
    await running;
    await expect(run(newCall(), () => Promise.reject(new GatewayError("OVERLOADED")))).rejects.toMatchObject({
      code: "OVERLOADED",
    });
    await run();
  });
});

describe("limitStage on a call that was broken off", () => {
  test("keeps its place until its provider has let go of it", async () => {
    const { run } = rig({ concurrency: 1 });
    const { promise: lingering, resolve } = Promise.withResolvers<void>();
    const call = { ...newCall(), run: { isRead: true, onAnswers: undefined, witness: undefined, lingering } };
    await run(call, async () => Promise.reject(new GatewayError("CANCELLED"))).catch(() => undefined);
    await expect(run()).rejects.toMatchObject(places);
    resolve();
    await lingering;
    await run();
  });
});

describe("limitStage on a call that is held", () => {
  const limits = { rate: { capacity: 3, refill: 1, periodMs: 60_000 }, budget: 2, concurrency: 3 };

  test("takes the rate when it comes, and place and budget when it is let go", async () => {
    const { run, held, made } = rig(limits, true);
    const { promise, resolve } = Promise.withResolvers<void>();
    const waits: Next = async (call) => {
      await promise;
      await held.take(call);
      made.push(call);
    };
    const both = [run(newCall(), waits), run(newCall(), waits), run(newCall(), waits)];
    const ends = Promise.allSettled(both);
    await expect(run(newCall(), waits)).rejects.toMatchObject({ code: "LIMITED", details: { retryAfterMs: 60_000 } });
    resolve();
    expect((await ends).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(made).toHaveLength(2);
  });

  test("finds all places taken and may ask again; a place that it has is its own once", async () => {
    const { run, held, made } = rig({ concurrency: 1 }, true);
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = run(newCall(), async (call) => {
      await held.take(call);
      await held.take(call);
      await promise;
    });
    await run(newCall(), async (call) => {
      await expect(held.take(call)).rejects.toMatchObject(places);
      resolve();
      await first;
      await held.take(call);
      made.push(call);
    });
    expect(made).toHaveLength(1);
  });

  test("that ends while it waits gives back nothing that another one has", async () => {
    const { run, held } = rig({ concurrency: 1 }, true);
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = run(newCall(), async (call) => {
      await held.take(call);
      await promise;
    });
    await run(newCall(), async () => undefined);
    await expect(run(newCall(), (call) => held.take(call))).rejects.toMatchObject(places);
    resolve();
    await first;
  });
});
