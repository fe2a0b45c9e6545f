/**
 * When the messages of batches are taken: a few milliseconds of each turn of the loop, one caller after the other, and of each caller one
 * batch at a time. It is a line of its own: what clients ask for by the hundred keeps nothing waiting that servers say.
 */
import { type Clock, identityOf, type Principal, type Steps } from "../../../contract/index.ts";

const SLICE_MS = 4;
/** Of one caller: each of them holds a connection and its message. */
const MAX_WAITING = 64;

// Invariants:
//  1. While somebody waits a turn is ordered, or in the middle of it.
export class BatchTurns {
  readonly #clock: Pick<Clock, "now">;
  readonly #later: (turn: () => void) => void;
  /** In the order in which they have their turns. */
  readonly #callers = new Map<string, Steps<void>[]>();

  /** `later`: after what came in from outside in the meantime. */
  constructor(clock: Pick<Clock, "now">, later: (turn: () => void) => void = setImmediate) {
    this.#clock = clock;
    this.#later = later;
  }

  /** Takes what fits at once where nobody waits, and the rest in turns. False: too many batches of this caller wait. */
  take(principal: Principal, steps: Steps<void>): boolean {
    const caller = callerOf(principal);
    const waiting = this.#callers.get(caller);
    if (waiting) {
      if (waiting.length < MAX_WAITING) waiting.push(steps);
      return waiting.at(-1) === steps;
    }
    const isFirst = this.#callers.size === 0;
    if (isFirst && this.#isDone(steps)) return true;
    this.#callers.set(caller, [steps]);
    if (isFirst) this.#later(this.#turn);
    return true;
  }

  readonly #turn = (): void => {
    const [next] = this.#callers;
    if (!next) return;
    const [caller, waiting] = next;
    const [steps] = waiting;
    if (!steps || this.#isDone(steps)) waiting.shift();
    this.#callers.delete(caller);
    if (waiting.length > 0) this.#callers.set(caller, waiting);
    if (this.#callers.size > 0) this.#later(this.#turn);
  };

  /** After a slice of it. */
  #isDone(steps: Steps<void>): boolean {
    const from = this.#clock.now();
    do {
      if (steps.next().done) return true;
    } while (this.#clock.now() - from < SLICE_MS);
    return false;
  }
}

/** All tokens of a user are one caller. */
function callerOf(principal: Principal): string {
  const { tenant, user, proof } = identityOf(principal);
  return user === "" || proof === "local" || proof === "none" ? principal.id : JSON.stringify([tenant, user]);
}
