import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { TimerWheel } from "./timers.ts";

describe("TimerWheel", () => {
  let now = 0;
  const errors: unknown[] = [];
  const makeWheel = () => new TimerWheel({ clock: { now: () => now }, onError: (error) => errors.push(error) });
  const pass = (ms: number) => {
    for (let left = ms; left > 0; left -= 10) {
      now += Math.min(left, 10);
      vi.advanceTimersByTime(Math.min(left, 10));
    }
  };

  beforeEach(() => {
    now = 1_234;
    errors.length = 0;
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([0, 1, 49, 50, 51, 999, 25_600, 25_650, 60_000])(
    "fires %i ms at most one tick late and never early",
    (ms) => {
      const wheel = makeWheel();
      const start = now;
      let firedAfter = -1;
      wheel.after(ms, () => {
        firedAfter = now - start;
      });
      pass(ms + 150);
      expect(firedAfter).toBeGreaterThanOrEqual(ms);
      // One tick of the wheel, and one of the interval that turns it.
      expect(firedAfter).toBeLessThanOrEqual(ms + 100);
    },
  );

  test("fires each once, in the order they are due", () => {
    const wheel = makeWheel();
    const fired: number[] = [];
    for (const ms of [300, 100, 26_000, 200, 100]) wheel.after(ms, () => fired.push(ms));
    pass(30_000);
    expect(fired).toEqual([100, 100, 200, 300, 26_000]);
  });

  test("does not fire what was cancelled, and cancels twice and after firing without harm", () => {
    const wheel = makeWheel();
    const fire = vi.fn();
    const cancelled = wheel.after(100, fire);
    const fired = wheel.after(100, () => {});
    cancelled.cancel();
    cancelled.cancel();
    pass(300);
    fired.cancel();
    expect(fire).not.toHaveBeenCalled();
    expect(wheel.count).toBe(0);
  });

  test("lets one fired function cancel the next of the same tick", () => {
    const wheel = makeWheel();
    const second = vi.fn();
    wheel.after(100, () => next.cancel());
    const next = wheel.after(100, second);
    const third = vi.fn();
    wheel.after(100, third);
    pass(300);
    expect(second).not.toHaveBeenCalled();
    expect(third).toHaveBeenCalledOnce();
  });

  test("fires what is due once and in order after the process was suspended", () => {
    const wheel = makeWheel();
    const fired: number[] = [];
    for (const ms of [70_000, 100, 30_000, 7_200_000]) wheel.after(ms, () => fired.push(ms));
    now += 3_600_000;
    vi.advanceTimersByTime(50);
    expect(fired).toEqual([100, 30_000, 70_000]);
    pass(200);
    expect(fired).toHaveLength(3);
    now += 3_600_000;
    vi.advanceTimersByTime(50);
    expect(fired).toEqual([100, 30_000, 70_000, 7_200_000]);
  });

  test("fires what a fired function sets", () => {
    const wheel = makeWheel();
    const fire = vi.fn();
    wheel.after(50, () => wheel.after(0, fire));
    pass(250);
    expect(fire).toHaveBeenCalledOnce();
  });

  test("tells what a function throws and fires the others", () => {
    const wheel = makeWheel();
    const fire = vi.fn();
    wheel.after(50, () => {
      throw new Error("broken");
    });
    wheel.after(50, fire);
    pass(200);
    expect(errors).toEqual([new Error("broken")]);
    expect(fire).toHaveBeenCalledOnce();
  });

  test("runs one interval, only while something is set", () => {
    const wheel = makeWheel();
    expect(vi.getTimerCount()).toBe(0);
    const timers = [wheel.after(500, () => {}), wheel.after(60_000, () => {})];
    expect(vi.getTimerCount()).toBe(1);
    for (const timer of timers) timer.cancel();
    pass(100);
    expect(vi.getTimerCount()).toBe(0);
    wheel.after(100, () => {});
    expect(vi.getTimerCount()).toBe(1);
    wheel.close();
    expect(vi.getTimerCount()).toBe(0);
    expect(wheel.count).toBe(0);
  });
});
