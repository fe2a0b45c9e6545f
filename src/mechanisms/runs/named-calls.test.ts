import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { flush } from "../../../tests/kit/test-kernel.ts";
import type { Admitted } from "../../contract/index.ts";
import { NamedCalls } from "./named-calls.ts";

const WAITING = 16;
const LONG_MS = 60_000;
const LOOK_MS = 500;

/** A call that runs elsewhere, and counts how often somebody asks about it. Words of others are lost. */
function rig() {
  const time = new ManualTime();
  let asked = 0;
  let state: Admitted = { type: "running" } as Admitted;
  let subscribed = 0;
  const calls = {
    admit: async () => {
      asked++;
      return state;
    },
    settle: async () => undefined,
  };
  const channel = {
    subscribe: async () => {
      subscribed++;
      return async () => void subscribed--;
    },
    publish: () => undefined,
  };
  const named = new NamedCalls({ calls, channel, clock: time, timers: time });
  const once = { key: "k", digest: "d", ttlMs: 1 };
  const repeat = (signal = new AbortController().signal) =>
    named
      .admit({ call: "c", member: "m", facts: "{}", ttlMs: 1, once }, { signal, deadline: time.now() + LONG_MS })
      .then(
        (end) => end?.type ?? "made",
        (error: { code?: string }) => error.code ?? "left",
      );
  return {
    time,
    repeat,
    askedIn: async (act: () => void) => {
      const before = asked;
      act();
      await flush();
      return asked - before;
    },
    ends: (text: string) => {
      state = { type: "done", answer: text } as Admitted;
    },
    subscribed: () => subscribed,
  };
}

const ANSWER = '{"outcome":"result","body":"{}"}';

describe("repeats of a call that runs", () => {
  test("wait for its answer, so many of them, and the rest is refused", async () => {
    const { time, repeat, ends } = rig();
    const all = Array.from({ length: WAITING + 3 }, () => repeat());
    await flush();
    ends(ANSWER);
    time.advance(LOOK_MS);
    const answers = await Promise.all(all);
    expect(answers.filter((answer) => answer === "OVERLOADED")).toHaveLength(3);
    expect(new Set(answers.slice(0, WAITING)).size).toBe(1);
    expect(answers[0]).not.toBe("OVERLOADED");
  });

  test("ask the store as often as one alone does", async () => {
    const { time, repeat, askedIn, subscribed } = rig();
    for (let count = 0; count < WAITING; count++) void repeat();
    await flush();
    expect(subscribed()).toBe(1);
    for (let turn = 0; turn < 5; turn++) expect(await askedIn(() => time.advance(LOOK_MS))).toBe(1);
  });

  test("go on looking when the one that looked has left", async () => {
    const { time, repeat, ends, askedIn, subscribed } = rig();
    const leaving = new AbortController();
    const first = repeat(leaving.signal);
    const second = repeat();
    await flush();
    leaving.abort(new Error("gone"));
    expect(await first).toBe("left");
    await flush();
    expect(await askedIn(() => time.advance(LOOK_MS))).toBe(1);
    ends(ANSWER);
    time.advance(LOOK_MS);
    expect(await second).toBe("end");
    await flush();
    expect(subscribed()).toBe(0);
  });

  test("have no more time than they were given, though another one looks", async () => {
    const { time, repeat, askedIn } = rig();
    const all = [repeat(), repeat()];
    await flush();
    await askedIn(() => time.advance(LONG_MS));
    expect(await Promise.all(all)).toEqual(["DEADLINE_PASSED", "DEADLINE_PASSED"]);
  });
});
