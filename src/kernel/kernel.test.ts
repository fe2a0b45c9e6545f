import { describe, expect, test } from "vitest";
import { ScriptedProvider, toolNamed } from "../../tests/kit/scripted-provider.ts";
import { flush, testKernel } from "../../tests/kit/test-kernel.ts";
import {
  type Ask,
  type CallEvent,
  GatewayError,
  type Life,
  LOCAL,
  payload,
  type Reader,
  type SessionRef,
} from "../contract/index.ts";

const LIMITS = { maxEvents: 8, maxBytes: 100_000 };
const ask: Ask = { key: "a1", kind: "elicit", method: "elicitation/create", input: payload("{}") };

function reader(options: { keeps?: boolean; takes?: number } = {}): Reader & { events: CallEvent[] } {
  const events: CallEvent[] = [];
  return {
    events,
    keeps: options.keeps ?? true,
    take: (event) => events.push(event) < (options.takes ?? Number.POSITIVE_INFINITY),
  };
}

const progress = (n: number): CallEvent => ({ type: "progress", payload: payload(`{"progress":${n}}`) });
const end: CallEvent = { type: "end", outcome: "result", payload: payload("{}") };
const codeOf = (event: CallEvent | undefined) => (event?.type === "error" ? event.error.code : event?.type);

async function started(
  options: Parameters<typeof testKernel>[1] & { life?: Life; reader?: ReturnType<typeof reader> } = {},
) {
  const provider = new ScriptedProvider("p", ["tool"]);
  const kit = await testKernel([provider], { journal: LIMITS, ...options });
  const first = options.reader ?? reader();
  const run = kit.kernel.runs.start(kit.order("p.tool", options.life ? { life: options.life } : {}), first);
  await flush();
  const scripted = provider.calls.get(run.id);
  if (!scripted) throw new Error("the call did not reach the provider");
  return { ...kit, provider, run, first, scripted };
}

describe("a run", () => {
  test("goes on without its reader and gives the rest to one that comes back", async () => {
    const { run, scripted } = await started();
    const before = reader();
    const attachment = run.attach(before, -1);
    scripted.write(progress(1));
    attachment.detach();
    scripted.write(progress(2));
    scripted.write(end);
    const after = reader();
    expect(run.attach(after, 0).missed).toBe(0);
    expect(before.events).toEqual([progress(1)]);
    expect(after.events).toEqual([progress(2), end]);
  });

  test.each([
    ["with our error, where the reader cannot take its end", end, ["end", "INTERNAL"]],
    ["as it ended, where the reader cannot take what came before", progress(1), ["progress", "end"]],
  ])("does not tell its provider of a fault of the reader, and ends %s", async (_how, unread, told) => {
    const { run, scripted, log } = await started();
    const events: CallEvent[] = [];
    const faulty: Reader = {
      keeps: true,
      take(event) {
        events.push(event);
        if (event === unread) throw new RangeError("Invalid string length");
        return true;
      },
    };
    run.attach(faulty, -1);
    expect(scripted.write(unread)).toBe(true);
    if (unread !== end) scripted.write(end);
    expect(events.map(codeOf)).toEqual(told);
    expect(run.isEnded).toBe(true);
    expect(log.lines.map(({ message }) => message)).toContain("an event could not be handed to its reader");
  });

  test("is cancelled when its life is bound to a reader that goes away", async () => {
    const { run, scripted } = await started({ life: "bound" });
    run.attach(reader(), -1).detach();
    expect(run.isEnded).toBe(true);
    expect(scripted.replies).toMatchObject([{ type: "cancel" }]);
  });

  test("pauses the provider when its reader is behind, and lets it go on when the reader has caught up", async () => {
    const { run, scripted } = await started();
    const slow = reader({ takes: 1 });
    const attachment = run.attach(slow, -1);
    const answers = [1, 2, 3, 4, 5, 6].map((n) => scripted.write(progress(n)));
    expect(answers).toEqual([true, true, true, true, true, false]);
    attachment.detach();
    run.attach(reader(), 0);
    expect(scripted.write(progress(7))).toBe(true);
  });

  test("drops the oldest progress nobody reads, counts it, and tells a reader how much it missed", async () => {
    const { run, scripted, meter } = await started();
    run.attach(reader(), -1).detach();
    for (let n = 0; n < 20; n++) scripted.write(progress(n));
    expect(meter.of("isthmus_events_dropped_total progress")).toBe(12);
    const late = reader();
    expect(run.attach(late, -1).missed).toBe(12);
    expect(late.events).toEqual(Array.from({ length: 8 }, (_, n) => progress(n + 12)));
  });

  test("ends with OVERLOADED rather than drop a chunk, and stops its provider", async () => {
    const { run, scripted } = await started();
    run.attach(reader(), -1).detach();
    for (let n = 0; n < 9; n++) scripted.write({ type: "chunk", payload: payload("{}") });
    expect(run.isEnded).toBe(true);
    const late = reader();
    run.attach(late, -1);
    expect(late.events.filter((event) => event.type === "chunk")).toHaveLength(9);
    expect(codeOf(late.events.at(-1))).toBe("OVERLOADED");
    expect(scripted.replies).toMatchObject([{ type: "cancel" }]);
  });

  test("keeps an open question in its journal however much is said after it", async () => {
    const { run, scripted } = await started();
    run.attach(reader(), -1);
    scripted.write({ type: "ask", asks: [ask] });
    for (let n = 0; n < 30; n++) scripted.write(progress(n));
    const back = reader();
    run.attach(back, -1);
    expect(back.events[0]?.type).toBe("ask");
  });

  test("takes one answer to a question and ignores a second", async () => {
    const { run, scripted } = await started();
    scripted.write({ type: "ask", asks: [ask] });
    const answer = { type: "answer", answers: [{ key: "a1", outcome: "result", payload: payload("{}") }] } as const;
    run.reply(answer);
    run.reply(answer);
    expect(scripted.replies).toHaveLength(1);
  });

  test("is kept for a reader that may come back, for a while", async () => {
    const { run, scripted, kernel, time } = await started({ keepMs: 1_000 });
    scripted.write(end);
    expect(kernel.runs.find(run.id)).toBe(run);
    time.advance(1_001);
    expect(kernel.runs.find(run.id)).toBeUndefined();
  });

  test("is forgotten at once when its only reader keeps nothing", async () => {
    const { run, scripted, kernel } = await started({ reader: reader({ keeps: false }) });
    scripted.write(end);
    expect(kernel.runs.find(run.id)).toBeUndefined();
  });
});

describe("dispatch", () => {
  test("ends a call at its deadline and tells the provider", async () => {
    const { run, first, scripted, time } = await started({ timeoutMs: 5_000 });
    time.advance(5_001);
    expect(run.isEnded).toBe(true);
    expect(codeOf(first.events.at(-1))).toBe("DEADLINE_PASSED");
    expect(scripted.replies).toMatchObject([{ type: "cancel" }]);
  });

  test("does not count the time a question waits for its answer", async () => {
    const { run, scripted, time } = await started({ timeoutMs: 5_000 });
    time.advance(4_000);
    scripted.write({ type: "ask", asks: [ask] });
    time.advance(60_000);
    expect(run.isEnded).toBe(false);
    run.reply({ type: "answer", answers: [{ key: "a1", outcome: "result", payload: payload("{}") }] });
    time.advance(900);
    expect(run.isEnded).toBe(false);
    time.advance(200);
    expect(run.isEnded).toBe(true);
  });

  test("gives up a call whose question nobody answers, a moment after the fronts would have", async () => {
    const { run, first, scripted, time } = await started({ timeoutMs: 5_000, inputMs: 20_000 });
    scripted.write({ type: "ask", asks: [ask] });
    time.advance(20_900);
    expect(run.isEnded).toBe(false);
    time.advance(200);
    expect(codeOf(first.events.at(-1))).toBe("DEADLINE_PASSED");
    expect(scripted.replies).toMatchObject([{ type: "cancel" }]);
    time.advance(5_001);
    expect(time.pending).toBe(1); // the run is kept for its reader
  });

  test("lets the question of a task wait as long as the task", async () => {
    const { run, scripted, time } = await started({ life: "detached", timeoutMs: 60_000, inputMs: 1_000 });
    scripted.write({ type: "ask", asks: [ask] });
    time.advance(59_000);
    expect(run.isEnded).toBe(false);
    time.advance(1_100);
    expect(run.isEnded).toBe(true);
  });

  test("gives back the slot of a call that goes on as the provider's task, and takes it only once", async () => {
    const { kernel, order, provider, scripted } = await started({ concurrency: 1 });
    scripted.write({ type: "status", state: "working", keepMs: 60_000 });
    const second = kernel.runs.start(order("p.tool"), reader());
    await flush();
    expect(provider.calls.has(second.id)).toBe(true);
    scripted.write(end);
    const third = kernel.runs.start(order("p.tool"), reader());
    await flush();
    expect(provider.calls.has(third.id)).toBe(false);
  });

  test("ends an extended call at its new deadline, also when it was extended while a question waited", async () => {
    const { run, first, scripted, time } = await started({ timeoutMs: 1000 });
    run.extend(5000);
    time.advance(4000);
    expect(first.events).toEqual([]);
    scripted.write({ type: "ask", asks: [ask] });
    run.extend(2000);
    time.advance(10_000);
    run.reply({ type: "answer", answers: [{ key: "a1", outcome: "result", payload: payload("{}") }] });
    time.advance(1900);
    expect(run.isEnded).toBe(false);
    time.advance(200);
    expect(codeOf(first.events.at(-1))).toBe("DEADLINE_PASSED");
  });

  test("counts and drops what a provider says of a call that was cancelled", async () => {
    const { run, meter, scripted } = await started({ concurrency: 1 });
    run.cancel();
    scripted.write(end);
    expect(meter.of("isthmus_events_late_total p")).toBe(1);
  });

  test("refuses calls with OVERLOADED when slots and line are full", async () => {
    const { kernel, order } = await started({ concurrency: 1 });
    const readers = Array.from({ length: 5 }, () => reader());
    for (const one of readers) kernel.runs.start(order("p.tool"), one);
    await flush();
    expect(readers.map((one) => codeOf(one.events.at(-1)))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      "OVERLOADED",
    ]);
  });

  test("lets a call leave the line when it is cancelled there", async () => {
    const { kernel, order, provider, scripted } = await started({ concurrency: 1 });
    const waiting = kernel.runs.start(order("p.tool"), reader());
    waiting.cancel();
    await flush();
    scripted.write(end);
    await flush();
    expect(provider.calls.size).toBe(1);
  });

  test("ends a call that waits in line when its time is over, without sending it", async () => {
    const { kernel, order, provider, time } = await started({ concurrency: 1, timeoutMs: 5_000 });
    const waiting = reader();
    time.advance(1_000);
    kernel.runs.start(order("p.tool"), waiting);
    await flush();
    time.advance(4_500);
    await flush();
    // The first call has ended, and still has the slot: its provider ignores that.
    expect(waiting.events).toEqual([]);
    time.advance(600);
    await flush();
    const last = waiting.events.at(-1);
    expect(codeOf(last)).toBe("DEADLINE_PASSED");
    expect(last?.type === "error" && last.error.message).toContain("not sent");
    expect(provider.calls.size).toBe(1);
  });

  test("gives a call that has waited in line the rest of its time, and no more", async () => {
    const { kernel, order, provider, scripted, time } = await started({ concurrency: 1, timeoutMs: 5_000 });
    const second = reader();
    const run = kernel.runs.start(order("p.tool"), second);
    await flush();
    time.advance(4_000);
    scripted.write(end);
    await flush();
    expect(provider.calls.has(run.id)).toBe(true);
    time.advance(900);
    expect(second.events).toEqual([]);
    time.advance(200);
    expect(codeOf(second.events.at(-1))).toBe("DEADLINE_PASSED");
  });

  test("ends as PROVIDER_FAILED when the provider goes without a word", async () => {
    const { first, scripted } = await started();
    scripted.settle();
    await flush();
    expect(codeOf(first.events.at(-1))).toBe("PROVIDER_FAILED");
  });

  test("ends a lost call of a tool that is not repeatable as OUTCOME_UNKNOWN, once", async () => {
    const { first, scripted, provider } = await started();
    scripted.crash(new GatewayError("OUTCOME_UNKNOWN"));
    await flush();
    expect(codeOf(first.events.at(-1))).toBe("OUTCOME_UNKNOWN");
    expect(provider.calls.size).toBe(1);
  });

  test("sends a lost call of a repeatable tool once more", async () => {
    const { kernel, order, provider } = await started();
    void provider.host?.offer("shared", [
      { kind: "tool", primitives: [toolNamed("tool", { repeatable: true })], extras: "" },
    ]);
    const seen = reader();
    const run = kernel.runs.start(order("p.tool"), seen);
    await flush();
    provider.calls.get(run.id)?.crash(new GatewayError("OUTCOME_UNKNOWN"));
    await flush();
    expect(seen.events).toEqual([]);
    provider.calls.get(run.id)?.write(end);
    expect(seen.events).toEqual([end]);
  });

  test("wraps what a provider throws as INTERNAL and keeps the cause out of the answer", async () => {
    const { first, scripted, log } = await started();
    scripted.crash(new Error("password=hunter2"));
    await flush();
    const last = first.events.at(-1);
    expect(codeOf(last)).toBe("INTERNAL");
    expect(last?.type === "error" && last.error.message).not.toContain("hunter2");
    expect(log.lines.map((line) => line.level)).toContain("info");
  });
});

describe("the catalog", () => {
  test("shows several providers under their segments, in file order [AX-071] [AX-072]", async () => {
    const { kernel } = await testKernel([new ScriptedProvider("b", ["x"]), new ScriptedProvider("a", ["y.z"])]);
    const list = kernel.catalog.view("", LOCAL).list("tool");
    expect(JSON.parse(`[${list.slice(0, list.count)}]`).map((tool: { name: string }) => tool.name)).toEqual([
      "b.x",
      "a.y_z",
    ]);
  });

  test("finds a call's provider by the full name [AX-074]", async () => {
    const { kernel } = await testKernel([new ScriptedProvider("b", ["x"]), new ScriptedProvider("a", ["x"])]);
    expect(kernel.catalog.view("", LOCAL).resolve("tool", "a.x")?.target).toEqual({
      provider: "a",
      kind: "tool",
      name: "x",
    });
    expect(kernel.catalog.view("", LOCAL).resolve("tool", "x")).toBeUndefined();
  });

  test("serves each provider's id as a catalog with its own names", async () => {
    const { kernel } = await testKernel([new ScriptedProvider("b", ["x"]), new ScriptedProvider("a", ["y.z"])]);
    expect(kernel.catalog.has("a")).toBe(true);
    expect(kernel.catalog.view("a", LOCAL).resolve("tool", "y.z")?.target).toEqual({
      provider: "a",
      kind: "tool",
      name: "y.z",
    });
    expect(kernel.catalog.view("a", LOCAL).resolve("tool", "a.y_z")).toBeUndefined();
  });

  test("keeps two names apart that a segment would map to one", async () => {
    const { kernel } = await testKernel([new ScriptedProvider("a", ["x.y", "x/y"])]);
    expect(kernel.catalog.view("", LOCAL).resolve("tool", "a.x_y")?.target.name).toBe("x.y");
    expect(kernel.catalog.view("", LOCAL).resolve("tool", "a.x_y_2")?.target.name).toBe("x/y");
  });

  test("gives a session its own offers and everybody else the shared ones", async () => {
    const provider = new ScriptedProvider("p", ["tool"]);
    const { kernel } = await testKernel([provider]);
    const session = { id: "s1" } as SessionRef;
    provider.scope = (async () => "session:s1") as unknown as typeof provider.scope;
    void provider.host?.offer("session:s1", [{ kind: "tool", primitives: [toolNamed("own")], extras: "" }]);
    await kernel.catalog.enter("", session);
    expect(kernel.catalog.view("", LOCAL, session).resolve("tool", "p.own")).toBeDefined();
    expect(kernel.catalog.view("", LOCAL).resolve("tool", "p.own")).toBeUndefined();
    kernel.catalog.leave(session);
    expect(kernel.catalog.view("", LOCAL, session).resolve("tool", "p.own")).toBeUndefined();
  });

  test("keeps a list the same object while only states change", async () => {
    const provider = new ScriptedProvider("p", ["tool"]);
    const { kernel } = await testKernel([provider, new ScriptedProvider("q", ["other"])]);
    const before = kernel.catalog.view("", LOCAL).list("tool");
    provider.host?.state({ status: "unreachable", message: "gone" });
    const after = kernel.catalog.view("", LOCAL);
    expect(after.list("tool")).toBe(before);
    expect(after.providers[0]).toMatchObject({ status: "unreachable", message: "gone" });
  });

  test("shows callers of an older dialect their own entries, under the same names and in the same order", async () => {
    const provider = new ScriptedProvider("p", ["a", "b"]);
    const { kernel } = await testKernel([provider, new ScriptedProvider("q", ["c"])]);
    const list = kernel.catalog.view("", LOCAL).list("tool");
    expect(list.older).toBe(list);
    const older = payload('{"name":"b","old":true}');
    const primitives = [toolNamed("a"), { ...toolNamed("b"), older }];
    void provider.host?.offer("shared", [{ kind: "tool", primitives, extras: "" }]);
    const changed = kernel.catalog.view("", LOCAL).list("tool");
    expect(changed.slice(1, 2)).not.toContain("old");
    expect(changed.older.slice(1, 2)).toBe('{"name":"p.b","old":true}');
    expect([changed.older.slice(0, 1), changed.older.slice(2, 3)]).toEqual([changed.slice(0, 1), changed.slice(2, 3)]);
    expect(kernel.catalog.view("q", LOCAL).list("tool").older).toBe(kernel.catalog.view("q", LOCAL).list("tool"));
  });

  test("does not wait for a slow provider beyond its patience", async () => {
    const slow = new ScriptedProvider("slow", []);
    slow.open = () => new Promise(() => undefined);
    const provider = new ScriptedProvider("p", ["tool"]);
    const { kernel, time } = await testKernel([provider], { patienceMs: 2_000 });
    kernel.mount(slow, { segment: "slow", concurrency: 1, timeoutMs: 1 });
    let hasEntered = false;
    const entering = kernel.catalog.enter("").then(() => {
      hasEntered = true;
    });
    await flush();
    expect(hasEntered).toBe(false);
    time.advance(2_001);
    await entering;
    expect(kernel.catalog.view("", LOCAL).list("tool").count).toBe(1);
    // Whoever comes now does not wait for it again.
    await kernel.catalog.enter("");
  });
});
