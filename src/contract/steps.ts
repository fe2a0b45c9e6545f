/** Work that can be left wherever it yields, and gone on with later. */
export type Steps<Result> = Generator<void, Result, void>;

/** How long some work has kept the process busy. */
export type Effort = { ms: number };

/**
 * Does long work in slices, between which calls go on: one slice at a time in the whole process, and whoever waits has a turn
 * after each. Short work is done at once where nothing else waits; else its result is a promise, which rejects with what the
 * work throws. `effort`: what it takes is added to it.
 */
export interface Slices {
  run<Result>(steps: Steps<Result>, effort?: Effort): Result | Promise<Result>;
}

/** Does it now, to its end. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** What `change` makes of each item, with a step after each. */
export function* mapSteps<Item, Changed>(items: readonly Item[], change: (item: Item) => Changed): Steps<Changed[]> {
  const changed: Changed[] = [];
  for (const item of items) {
    changed.push(change(item));
    yield;
  }
  return changed;
}
