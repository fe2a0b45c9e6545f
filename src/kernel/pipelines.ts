import type { Clock, Next, Stage } from "../contract/index.ts";
import { compose } from "./compose.ts";

/**
 * Pipelines by the steps they are made of. Primitives with the same steps share one: where calls go to thousands of
 * primitives, a pipeline of its own would not be in the processor's cache when one of them is called.
 */
export class Pipelines {
  readonly #clock: Clock;
  readonly #root = new Branch();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(stages: readonly Stage[], last: Next): Next {
    const branch = [...stages, last].reduce<Branch>((from, step) => from.after(step), this.#root);
    branch.pipeline ??= compose(stages, last, this.#clock);
    return branch.pipeline;
  }
}

/** What begins with the same steps. Forgets what begins with a stage that nobody holds any more. */
class Branch {
  pipeline: Next | undefined;
  readonly #branches = new WeakMap<Stage | Next, Branch>();

  after(step: Stage | Next): Branch {
    const known = this.#branches.get(step);
    if (known) return known;
    const fresh = new Branch();
    this.#branches.set(step, fresh);
    return fresh;
  }
}
