/**
 * Asks nginx for something that it answers by itself, again and again. On a busy machine it may stand still for longer than a
 * process that leaves keeps its connections; then it puts a request on one that is closed by now and says 502, which no
 * gateway can prevent.
 */
import { setTimeout as wait } from "node:timers/promises";
import { PROBE } from "../../chaos/balancer.ts";

/** As long as `LINGER_MS` of src/server/drain.ts. */
const STANDSTILL_MS = 500;
const EVERY_MS = 50;

/** Of `performance.now()`. */
export type Span = { readonly from: number; readonly until: number };

export class BalancerWatch implements AsyncDisposable {
  readonly #standstills: Span[] = [];
  readonly #watching: Promise<void>;
  #isOver = false;

  constructor(origin: string) {
    this.#watching = this.#watch(`${origin}${PROBE}`);
  }

  async #watch(url: string): Promise<void> {
    let from = performance.now();
    while (!this.#isOver) {
      await wait(EVERY_MS);
      await (await fetch(url)).arrayBuffer();
      const until = performance.now();
      if (until - from > STANDSTILL_MS) this.#standstills.push({ from, until });
      from = until;
    }
  }

  stoodStillIn({ from, until }: Span): boolean {
    return this.#standstills.some((one) => one.from < until && one.until > from);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#watching;
  }
}
