import type { Timers } from "../../contract/index.ts";

/** What the promise resolves to, or undefined when that takes longer than `ms`. */
export async function within<Value>(timers: Timers, ms: number, promise: Promise<Value>): Promise<Value | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = timers.after(ms, () => resolve(undefined));
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer.cancel();
  }
}
