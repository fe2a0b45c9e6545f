import { describe, expect, test, vi } from "vitest";
import { FakeOut, fakeSession, toolCall } from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { flush } from "../../../tests/kit/test-kernel.ts";
import { jsonText, type Provider, payload } from "../../contract/index.ts";
import { type Exchange, type Handler, startHttpFixture } from "./fixtures/http-server.ts";
import { startModern } from "./fixtures/modern-http.ts";
import { openProvider, stdioConfig } from "./fixtures/setup.ts";

const LAST_WORD_MS = 5_000;
/** For a real server, on a machine that does other things too. */
const PATIENCE = { timeout: 20_000 };

/** A call that was sent, and then cancelled. */
async function cancelled(
  provider: Provider,
  time: ManualTime,
  isSent: () => void,
  { session, holdMs }: { session?: string; holdMs?: number } = {},
) {
  const call = toolCall("slow", {}, { ...(session !== undefined && { session: fakeSession(session) }) });
  const out = new FakeOut();
  let isLetGo = false;
  const running = provider.run({ ...call, deadline: time.now() + 600_000 }, out).catch(() => {
    isLetGo = true;
  });
  await vi.waitFor(isSent, PATIENCE);
  provider.reply(call.id, { type: "cancel", ...(holdMs !== undefined && { holdMs }) });
  await flush();
  return { out, running, isLetGo: () => isLetGo };
}

function heldCalls(): { on: Record<string, Handler>; calls: Exchange[] } {
  const calls: Exchange[] = [];
  return { calls, on: { "tools/call": (exchange) => void calls.push(exchange) } };
}

describe("a call that was cancelled", () => {
  test("is held until the server has answered it all the same, and the answer is dropped", async () => {
    const { calls, on } = heldCalls();
    const time = new ManualTime();
    await using server = await startHttpFixture(on);
    await using setup = await openProvider({ era: "2025", url: server.url }, { timers: time, clock: time });
    const { out, running, isLetGo } = await cancelled(setup.provider, time, () => expect(calls).toHaveLength(1));
    await vi.waitFor(() => expect(server.count("notifications/cancelled")).toBe(1), PATIENCE);
    expect(isLetGo()).toBe(false);
    calls[0]?.result({ content: [] });
    await running;
    expect(out.ends).toEqual([]);
    expect(setup.meter.counts.get("isthmus_events_late_total test")).toBe(1);
  });

  test("is let go after five seconds when the server does not answer, and its stream is closed then", async () => {
    const { calls, on } = heldCalls();
    const time = new ManualTime();
    await using server = await startHttpFixture(on);
    await using setup = await openProvider({ era: "2025", url: server.url }, { timers: time, clock: time });
    const closed = vi.fn();
    const { running, isLetGo } = await cancelled(setup.provider, time, () => expect(calls).toHaveLength(1));
    calls[0]?.response.on("close", closed);
    time.advance(LAST_WORD_MS - 1);
    await flush();
    expect([isLetGo(), closed.mock.calls.length]).toEqual([false, 0]);
    time.advance(1);
    await running;
    await vi.waitFor(() => expect(closed).toHaveBeenCalled(), PATIENCE);
  });

  test("is held for as long as the kernel says", async () => {
    const { calls, on } = heldCalls();
    const time = new ManualTime();
    await using server = await startHttpFixture(on);
    await using setup = await openProvider({ era: "2025", url: server.url }, { timers: time, clock: time });
    const isSent = () => expect(calls).toHaveLength(1);
    const { running, isLetGo } = await cancelled(setup.provider, time, isSent, { holdMs: 40_000 });
    time.advance(39_999);
    await flush();
    expect(isLetGo()).toBe(false);
    time.advance(1);
    await running;
  });

  test("is held for as long where closing its stream is the cancel: nobody can say that it ended", async () => {
    const { calls, on } = heldCalls();
    const time = new ManualTime();
    await using server = await startModern(on);
    await using setup = await openProvider({ url: server.url }, { timers: time, clock: time });
    const { running, isLetGo } = await cancelled(setup.provider, time, () => expect(calls).toHaveLength(1));
    time.advance(LAST_WORD_MS - 1);
    await flush();
    expect(isLetGo()).toBe(false);
    time.advance(1);
    await running;
  });

  test("is held for as long when its stream breaks, and when its client's session with the server is closed", async () => {
    const { calls, on } = heldCalls();
    const time = new ManualTime();
    await using server = await startHttpFixture(on, "s");
    await using setup = await openProvider({ era: "2025", url: server.url }, { timers: time, clock: time });
    const broken = await cancelled(setup.provider, time, () => expect(calls).toHaveLength(1), { session: "a" });
    const left = await cancelled(setup.provider, time, () => expect(calls).toHaveLength(2), { session: "b" });
    calls[0]?.response.destroy();
    setup.provider.release(fakeSession("b"));
    await vi.waitFor(() => expect(server.seen.filter(({ method }) => method === "DELETE")).toHaveLength(1), PATIENCE);
    await flush();
    expect([broken.isLetGo(), left.isLetGo()]).toEqual([false, false]);
    time.advance(LAST_WORD_MS);
    await Promise.all([broken.running, left.running]);
  });

  test("is let go at once when the process that worked on it has ended", async () => {
    const time = new ManualTime();
    await using setup = await openProvider(stdioConfig(), { timers: time, clock: time });
    const deadline = time.now() + 600_000;
    const call = { ...toolCall("never"), deadline };
    const running = setup.provider.run(call, new FakeOut()).catch((error: unknown) => error);
    setup.provider.reply(call.id, { type: "cancel" });
    await setup.provider.run({ ...toolCall("die"), deadline }, new FakeOut()).catch(() => undefined);
    expect(await running).toMatchObject({ code: "CANCELLED" });
  });

  test("is let go at once when it was never sent", async () => {
    const time = new ManualTime();
    await using setup = await openProvider({ ...stdioConfig(), sessions: "per-client" }, { timers: time, clock: time });
    const call = { ...toolCall("never", {}, { session: fakeSession("a") }), deadline: time.now() + 600_000 };
    const running = setup.provider.run(call, new FakeOut()).catch((error: unknown) => error);
    setup.provider.reply(call.id, { type: "cancel" });
    expect(await running).toMatchObject({ code: "CANCELLED" });
  });
});

describe("what a caller says when it cancels", () => {
  const LARGE = "z".repeat(4 * 1024 * 1024 - 300);
  const small = (params: object) => jsonText({ requestId: 1, ...params });

  /** Cancels a call in these words. Returns what the server has heard. */
  async function heard(config: object, params: object, reason?: string): Promise<unknown> {
    await using setup = await openProvider(config);
    const call = toolCall("never");
    const running = setup.provider.run(call, new FakeOut()).catch(() => undefined);
    const words = payload(small(params));
    setup.provider.reply(call.id, {
      type: "cancel",
      ...(reason !== undefined && { reason }),
      payload: words,
      holdMs: 1,
    });
    const out = new FakeOut();
    await setup.provider.run(toolCall("cancelled"), out);
    await running;
    const { content } = out.result as { content: [{ text: string }] };
    return (JSON.parse(content[0].text) as unknown[])[0];
  }

  test("goes on as it came where it is small", async () => {
    const said = await heard(stdioConfig(), { reason: "enough", x: { y: [1] }, _meta: { z: 1 } }, "enough");
    expect(said).toEqual({ requestId: expect.any(Number), reason: "enough", x: { y: [1] }, _meta: { z: 1 } });
  });

  test.each([
    ["an unknown member", { x: LARGE, y: 1 }, undefined, { y: 1 }],
    ["its reason", { reason: LARGE, y: 1 }, LARGE, { reason: "z".repeat(512), y: 1 }],
    ["what should be a reason", { reason: { a: LARGE } }, undefined, {}],
    ["its _meta", { reason: "enough", _meta: { a: LARGE } }, "enough", { reason: "enough" }],
    [
      "characters of two halves",
      { reason: `a${"😀".repeat(9_000)}` },
      `a${"😀".repeat(9_000)}`,
      { reason: `a${"😀".repeat(255)}\ufffd` },
    ],
  ])("goes on without what is large: %s", async (_, params, reason, rest) => {
    expect(await heard(stdioConfig(), params, reason)).toEqual({ requestId: expect.any(Number), ...rest });
  });

  test("does not end a child that reads slowly, however much it is", async () => {
    await using setup = await openProvider(stdioConfig());
    const who = async () => {
      const out = new FakeOut();
      await setup.provider.run(toolCall("who"), out);
      return (JSON.parse((out.result as { content: [{ text: string }] }).content[0].text) as { pid: number }).pid;
    };
    const pid = await who();
    process.kill(pid, "SIGSTOP");
    const params = { pad: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [at, "z".repeat(25)])) };
    const cancels = Array.from({ length: 2_000 }, async () => {
      const call = toolCall("never");
      const running = setup.provider.run(call, new FakeOut()).catch(() => undefined);
      setup.provider.reply(call.id, { type: "cancel", payload: payload(small(params)), holdMs: 1 });
      await running;
    });
    await flush();
    process.kill(pid, "SIGCONT");
    await Promise.all(cancels);
    expect(await who()).toBe(pid);
  });
});
