import { describe, expect, test, vi } from "vitest";
import { FakeOut, fakeCall } from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { payload } from "../../contract/index.ts";
import { Caller, caller, origin, pidOf } from "./fixtures/caller.ts";
import { openProvider, stdioConfig } from "./fixtures/setup.ts";

describe("a call of a 2026-07-28 client, asked on a pipe", () => {
  test("has the process to itself until it ends: others are asked in another, and each answer reaches its own", async () => {
    await using setup = await openProvider(stdioConfig());
    const first = await new Caller(setup, "ask").asked();
    const second = await new Caller(setup, "ask").asked();
    const third = await new Caller(setup, "ask").asked();
    expect(setup.provider.upstreamCount?.()).toBe(4); // with the shared one
    expect(await second.answer("second")).toMatchObject({ content: { note: "second" } });
    expect(await first.answer("first")).toMatchObject({ content: { note: "first" } });
    expect(await third.answer("third")).toMatchObject({ content: { note: "third" } });
    expect([first, second, third].map(({ asks }) => asks.length)).toEqual([1, 1, 1]);
    expect(setup.host.asks).toEqual([]);
  });

  test("leaves the first process to all others again when it has ended", async () => {
    await using setup = await openProvider(stdioConfig());
    const before = await pidOf(setup);
    const asking = await new Caller(setup, "ask").asked();
    expect(await pidOf(setup)).not.toBe(before);
    await asking.answer("yes");
    expect(await pidOf(setup)).toBe(before);
  });

  test("that nothing asks shares the process with all others, at the same time", async () => {
    await using setup = await openProvider(stdioConfig());
    const pending = [new Caller(setup, "never"), new Caller(setup, "never")];
    expect(new Set([await pidOf(setup), await pidOf(setup)]).size).toBe(1);
    expect(setup.provider.upstreamCount?.()).toBe(2); // the shared one and the client's
    for (const one of pending) one.cancel();
  });

  test("of a tool that has asked before starts where no other call runs", async () => {
    await using setup = await openProvider(stdioConfig());
    await (await new Caller(setup, "ask").asked()).answer("once");
    const busy = new Caller(setup, "never");
    const asking = await new Caller(setup, "ask").asked();
    expect(setup.provider.upstreamCount?.()).toBe(3);
    expect(await asking.answer("again")).toMatchObject({ content: { note: "again" } });
    busy.cancel();
  });

  test("is not kept apart when its method cannot be asked, or its client is of the 2025 era", async () => {
    await using setup = await openProvider(stdioConfig());
    const asking = await new Caller(setup, "ask").asked();
    const complete = fakeCall({ method: "completion/complete", verb: "complete", session: caller, origin });
    await setup.provider.run(complete, new FakeOut());
    await pidOf(setup, { origin: { ...origin, protocol: "2025-11-25" } });
    expect(setup.provider.upstreamCount?.()).toBe(2);
    await asking.answer("yes");
  });

  test("is asked again in the same process, whatever else runs there", async () => {
    await using setup = await openProvider(stdioConfig());
    const asking = await new Caller(setup, "askTwice").asked();
    const completion = new Caller(setup, "never", { verb: "complete" });
    asking.reply("once");
    await vi.waitFor(() => expect(asking.asks).toEqual(["a1", "a2"]));
    expect(await asking.answer("twice")).toMatchObject({ content: { note: "twice" } });
    completion.cancel();
  });

  test("waits for a session when there may be no more of them, and starts with the next end", async () => {
    await using setup = await openProvider(stdioConfig({}, { maxSessions: 1 }));
    const asking = await new Caller(setup, "ask").asked();
    const [left, waiting] = [new Caller(setup, "who"), new Caller(setup, "who")];
    left.cancel();
    expect(await left.ended).toMatchObject({ code: "CANCELLED" });
    expect(waiting.out.ends).toEqual([]);
    await asking.answer("yes");
    await waiting.ended;
    expect(waiting.result.pid).toBeGreaterThan(0);
    expect(left.out.ends).toEqual([]);
  });

  test("leaves no more than eight sessions to one client", async () => {
    await using setup = await openProvider(stdioConfig());
    const asking = [];
    for (let count = 0; count < 8; count++) asking.push(await new Caller(setup, "ask").asked());
    const waiting = new Caller(setup, "ask");
    expect(setup.provider.upstreamCount?.()).toBe(9);
    await asking[3]?.answer("yes");
    await waiting.asked();
    expect(setup.provider.upstreamCount?.()).toBe(9);
  });

  test("ends with a process that dies while it is suspended, and the next call has another", async () => {
    await using setup = await openProvider(stdioConfig());
    const before = await pidOf(setup);
    const asking = await new Caller(setup, "ask").asked();
    process.kill(before ?? 0, "SIGKILL");
    expect(await asking.ended).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(await pidOf(setup)).not.toBe(before);
    expect(setup.provider.upstreamCount?.()).toBe(2);
  });

  test("that nobody comes back to is cancelled, a thousand times, and leaves nothing behind", async () => {
    await using setup = await openProvider(stdioConfig());
    const before = await pidOf(setup);
    for (let round = 0; round < 1000; round++) {
      const asking = await new Caller(setup, "ask").asked();
      const answers = [{ key: "a1", outcome: "result", payload: payload('{"action":"cancel"}') }] as const;
      setup.provider.reply(asking.call.id, { type: "answer", answers });
      asking.cancel();
    }
    expect(await pidOf(setup)).toBe(before);
    expect(setup.provider.upstreamCount?.()).toBe(2);
  });
});

describe("a question after the cancel of its call", () => {
  test("is put to no other call: the session is free when the server has read of the cancel", async () => {
    await using setup = await openProvider(stdioConfig());
    const left = await new Caller(setup, "askTwice").asked();
    const older = new Caller(setup, "never", { origin: { ...origin, protocol: "2025-11-25" } });
    left.reply("once");
    left.cancel();
    await vi.waitFor(() => expect(setup.host.asks).toHaveLength(1));
    older.cancel();
    const next = await new Caller(setup, "ask").asked();
    expect(older.asks).toEqual([]);
    expect(await next.answer("mine")).toMatchObject({ content: { note: "mine" } });
    expect(next.asks).toEqual(["a1"]);
    expect(setup.provider.upstreamCount?.()).toBe(2);
  });
});

describe("a question that any of several calls may have asked", () => {
  test("waits until the others have ended", async () => {
    await using setup = await openProvider(stdioConfig());
    const other = new Caller(setup, "never");
    const asking = new Caller(setup, "ask");
    await pidOf(setup); // answered after the question, on the same pipe
    await new Caller(setup, "echo").ended;
    expect(setup.provider.upstreamCount?.()).toBe(3);
    other.cancel();
    await asking.asked();
    expect(await asking.answer("yes")).toMatchObject({ content: { note: "yes" } });
    expect(setup.host.asks).toEqual([]);
  });

  test("is put to no call when the doubt stays; next time all of them run apart", async () => {
    const time = new ManualTime();
    await using setup = await openProvider(stdioConfig(), { timers: time, clock: time });
    setup.host.answer = ({ key }) =>
      Promise.resolve({ key, outcome: "result", payload: payload('{"action":"cancel"}') });
    const deadline = time.now() + 60_000;
    await pidOf(setup, { deadline });
    const both = [new Caller(setup, "ask", { deadline }), new Caller(setup, "ask", { deadline })];
    await pidOf(setup, { deadline });
    expect(setup.host.asks).toEqual([]);
    time.advance(5000);
    expect(setup.host.asks).toHaveLength(2);
    for (const one of both) await one.ended;
    expect(both.map(({ result }) => result)).toEqual([{ action: "cancel" }, { action: "cancel" }]);
    const again = [new Caller(setup, "ask", { deadline }), new Caller(setup, "ask", { deadline })];
    for (const one of again) await one.asked();
    for (const one of again) await one.answer("yes");
  });
});
