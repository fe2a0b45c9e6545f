/** Waiting for what a program does in its own time. */
import { inspect } from "node:util";

const MAX_SHOWN = 2_000;

/** Asks again until the answer fits. Throws, with the last answer, when none has in time. */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  fits: (value: T) => boolean,
  limitMs = 10_000,
): Promise<T> {
  const last = await lastAnswer(ask, fits, limitMs);
  if (fits(last)) return last;
  const shown = inspect(last, { depth: 6, maxStringLength: MAX_SHOWN }).slice(0, MAX_SHOWN);
  throw new Error(`not within ${limitMs} ms; the last answer was ${shown}`);
}

/** The last one when none fits in time: for tests that say more about it than we could, or wait for what must not come. */
export async function lastAnswer<T>(
  ask: () => T | Promise<T>,
  fits: (value: T) => boolean,
  limitMs = 10_000,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await ask();
    if (fits(value) || performance.now() > deadline) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
