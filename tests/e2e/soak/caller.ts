import type { SeededRandom } from "./seeded-random.ts";
import type { Wire } from "./wire.ts";

/** One client, which makes one call after the other. */
export interface Caller {
  /** Makes a call, answers what it is asked, and resolves when the result was the right one; rejects when it was not. */
  call(tag: string): Promise<void>;
  /** Begins a call and is gone before it has its result. */
  vanish(tag: string): Promise<void>;
}

export type CallerOptions = { readonly wire: Wire; readonly url: string; readonly random: SeededRandom };

export function unexpected(tag: string, what: string, found: unknown): Error {
  return new Error(`${tag}: expected ${what}, found ${JSON.stringify(found)}`);
}
