import { describe, expect, test } from "vitest";
import { ScriptedProvider, toolNamed } from "../../tests/kit/scripted-provider.ts";
import { flush, testKernel } from "../../tests/kit/test-kernel.ts";
import {
  type CallEvent,
  LOCAL,
  type Notice,
  type Provider,
  payload,
  type Reader,
  type SessionRef,
} from "../contract/index.ts";
import type { Kernel, Place } from "./index.ts";

const end: CallEvent = { type: "end", outcome: "result", payload: payload("{}") };

class ClosableProvider extends ScriptedProvider {
  isClosed = false;

  override async close(): Promise<void> {
    this.isClosed = true;
  }
}

function reader(): Reader & { events: CallEvent[] } {
  const events: CallEvent[] = [];
  return { events, keeps: false, take: (event) => events.push(event) > 0 };
}

function place(id: string, provider?: Provider, timeoutMs = 60_000): Place {
  return { id, options: { segment: id, concurrency: 4, timeoutMs }, ...(provider && { provider }) };
}

function toolNames(kernel: Kernel): string[] {
  const list = kernel.catalog.view("", LOCAL).list("tool");
  return (JSON.parse(`[${list.slice(0, list.count)}]`) as { name: string }[]).map(({ name }) => name);
}

function sessionNamed(id: string): SessionRef {
  const facts = { capabilities: payload("{}"), clientInfo: payload("{}"), canBeAsked: true, isEphemeral: false };
  return { id, principal: { id: "local" }, catalog: "", protocol: "test", ...facts };
}

const DRAIN_MS = 1_000;

describe("rearrange", () => {
  test("adds, keeps and takes out providers as one step, in the given order", async () => {
    const kept = new ClosableProvider("kept", ["a"]);
    const gone = new ClosableProvider("gone", ["b"]);
    const { kernel } = await testKernel([gone, kept]);
    const { opened, closed } = kernel.rearrange(
      [place("fresh", new ScriptedProvider("fresh", ["c"])), place("kept")],
      DRAIN_MS,
    );
    await opened;
    await closed;
    expect(toolNames(kernel)).toEqual(["fresh.c", "kept.a"]);
    expect(kernel.ready().servers).toEqual({ fresh: "ok", kept: "ok" });
    expect([gone.isClosed, kept.isClosed]).toEqual([true, false]);
    expect(kernel.catalog.has("gone")).toBe(false);
    expect(kernel.catalog.view("gone", LOCAL).list("tool").count).toBe(0);
  });

  test("lets a call end on the provider that it began on, while new calls go to its successor", async () => {
    const first = new ClosableProvider("p", ["tool"]);
    const { kernel, order, time } = await testKernel([first]);
    const taker = reader();
    const run = kernel.runs.start(order("p.tool"), taker);
    await flush();
    const second = new ClosableProvider("p", ["tool"]);
    const { closed } = kernel.rearrange([place("p", second)], DRAIN_MS);
    await flush();
    const later = kernel.runs.start(order("p.tool"), reader());
    await flush();
    expect(second.calls.has(later.id)).toBe(true);
    expect(first.isClosed).toBe(false);
    first.calls.get(run.id)?.write(end);
    expect(taker.events).toEqual([end]);
    time.advance(100);
    await closed;
    expect([first.isClosed, second.isClosed]).toEqual([true, false]);
    expect(later.isEnded).toBe(false);
  });

  test("passes an answer on to the provider that asked, though it was taken out", async () => {
    const first = new ClosableProvider("p", ["tool"]);
    const { kernel, order } = await testKernel([first]);
    const run = kernel.runs.start(order("p.tool"), reader());
    await flush();
    const scripted = first.calls.get(run.id);
    scripted?.write({ type: "ask", asks: [{ key: "a", kind: "elicit", method: "m", input: payload("{}") }] });
    kernel.rearrange([place("p", new ScriptedProvider("p", ["tool"]))], DRAIN_MS);
    run.reply({ type: "answer", answers: [{ key: "a", outcome: "result", payload: payload("{}") }] });
    expect(scripted?.replies).toMatchObject([{ type: "answer" }]);
  });

  test("breaks off what has not ended in time, whose outcome nobody knows, and then closes", async () => {
    const gone = new ClosableProvider("p", ["tool"]);
    const { kernel, order, time } = await testKernel([gone]);
    const taker = reader();
    kernel.runs.start(order("p.tool"), taker);
    await flush();
    const { closed } = kernel.rearrange([], DRAIN_MS);
    time.advance(DRAIN_MS - 100);
    await flush();
    expect(gone.isClosed).toBe(false);
    time.advance(200);
    await closed;
    expect(taker.events.at(-1)).toMatchObject({ type: "error", error: { code: "OUTCOME_UNKNOWN" } });
    expect(gone.isClosed).toBe(true);
    expect(kernel.stats().open).toBe(0);
  });

  test("shows what the former provider offered until its successor has listed", async () => {
    const { kernel } = await testKernel([new ScriptedProvider("p", ["old"])]);
    const gate = Promise.withResolvers<void>();
    class Slow extends ScriptedProvider {
      override async open(...args: Parameters<ScriptedProvider["open"]>): Promise<void> {
        await gate.promise;
        await super.open(...args);
      }
    }
    const { opened } = kernel.rearrange([place("p", new Slow("p", ["new"]))], DRAIN_MS);
    expect(toolNames(kernel)).toEqual(["p.old"]);
    expect(kernel.ready().servers).toEqual({ p: "starting" });
    gate.resolve();
    await opened;
    expect(toolNames(kernel)).toEqual(["p.new"]);
  });

  test("ignores what a provider says that was taken out", async () => {
    const first = new ScriptedProvider("p", ["old"]);
    const { kernel } = await testKernel([first]);
    const { opened } = kernel.rearrange([place("p", new ScriptedProvider("p", ["new"]))], DRAIN_MS);
    await opened;
    void first.host?.offer("shared", []);
    first.host?.state({ status: "unreachable" });
    expect(toolNames(kernel)).toEqual(["p.new"]);
    expect(kernel.ready().servers).toEqual({ p: "ok" });
  });

  test("tells sessions once which lists have changed", async () => {
    const notices: Notice[] = [];
    const sessions = { notice: (notice: Notice) => void notices.push(notice), ask: () => Promise.reject(new Error()) };
    const { kernel, time } = await testKernel([new ScriptedProvider("gone", ["a"])], { sessions });
    time.advance(100);
    notices.length = 0;
    const { opened } = kernel.rearrange([place("fresh", new ScriptedProvider("fresh", ["b"]))], DRAIN_MS);
    await opened;
    time.advance(100);
    expect(notices.map(({ from, to }) => [from, to])).toEqual([
      ["gone", { catalog: ["tool"] }],
      ["fresh", { catalog: ["tool"] }],
    ]);
  });

  test("shows sessions that are there already what a new provider has for them alone", async () => {
    class PerClient extends ScriptedProvider {
      override scope: Provider["scope"] = async ({ id }) => {
        const offer = { kind: "tool", primitives: [toolNamed("own")], extras: "" } as const;
        void this.host?.offer(`session:${id}`, [offer]);
        return `session:${id}`;
      };
    }
    const notices: Notice[] = [];
    const sessions = { notice: (notice: Notice) => void notices.push(notice), ask: () => Promise.reject(new Error()) };
    const { kernel, time } = await testKernel([new ScriptedProvider("kept", ["a"])], { sessions });
    const session = sessionNamed("s1");
    await kernel.catalog.enter("", session);
    await kernel.catalog.enter("", sessionNamed("s2"));
    kernel.catalog.leave(sessionNamed("s2"));
    const { opened } = kernel.rearrange([place("kept"), place("fresh", new PerClient("fresh", ["b"]))], DRAIN_MS);
    await opened;
    await flush();
    time.advance(100);
    expect(kernel.catalog.view("", LOCAL, session).resolve("tool", "fresh.own")).toBeDefined();
    expect(kernel.catalog.view("", LOCAL).resolve("tool", "fresh.own")).toBeUndefined();
    expect(notices.map(({ to }) => to)).toContainEqual({ catalog: ["tool"], session: "s1" });
    expect(notices.map(({ to }) => to)).not.toContainEqual({ catalog: ["tool"], session: "s2" });
  });

  test("gives a provider that stays another time for its calls", async () => {
    const provider = new ScriptedProvider("p", ["tool"]);
    const { kernel, order, time } = await testKernel([provider]);
    kernel.rearrange([place("p", undefined, 10)], DRAIN_MS);
    const taker = reader();
    kernel.runs.start(order("p.tool"), taker);
    await flush();
    time.advance(20);
    expect(taker.events.at(-1)).toMatchObject({ type: "error", error: { code: "DEADLINE_PASSED" } });
  });

  test("changes nothing when a provider is to stay that is not there", async () => {
    const provider = new ClosableProvider("p", ["tool"]);
    const { kernel } = await testKernel([provider]);
    expect(() => kernel.rearrange([place("nobody")], DRAIN_MS)).toThrow('no provider "nobody"');
    expect(toolNames(kernel)).toEqual(["p.tool"]);
    expect(provider.isClosed).toBe(false);
  });

  test("closes also what is leaving when the kernel closes", async () => {
    const gone = new ClosableProvider("p", ["tool"]);
    const { kernel, order } = await testKernel([gone]);
    kernel.runs.start(order("p.tool"), reader());
    kernel.rearrange([], 60_000);
    await kernel.close();
    expect(gone.isClosed).toBe(true);
  });
});
