/**
 * A client need not wait for an answer before it asks again, and one read may bring over a thousand requests. What is behind the
 * first one waits here until everybody else had a turn; all connections that wait share a few milliseconds of each, one request
 * after the other. Who waits for answers, as nearly all do, never comes here.
 */
import { systemClock } from "../clock.ts";

/** A connection on which a request is here whose turn it was not. */
export interface WaitingClient {
  /** Takes one request, and waits again if there is another. */
  takeTurn(): void;
}

/** So long all of them together keep the process busy before everybody else has a turn. One request may take longer. */
const TURN_MS = 2;

// Invariants:
//  1. While somebody waits, `#isUnderWay`: a turn is ordered, or in the middle of it.
export class RequestTurns {
  /** In the order in which they are served. */
  readonly #waiting = new Set<WaitingClient>();
  readonly #now: () => number;
  #isUnderWay = false;
  #until = 0;

  constructor(now: () => number = systemClock.now) {
    this.#now = now;
  }

  wait(client: WaitingClient): void {
    this.#waiting.add(client);
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    setImmediate(this.#begin);
  }

  leave(client: WaitingClient): void {
    this.#waiting.delete(client);
  }

  readonly #begin = (): void => {
    this.#until = this.#now() + TURN_MS;
    this.#serveNext();
  };

  readonly #serveNext = (): void => {
    const [client] = this.#waiting;
    if (client === undefined) {
      this.#isUnderWay = false;
      return;
    }
    this.#waiting.delete(client);
    try {
      client.takeTurn();
    } finally {
      // What a request sets off in promises belongs to its time, and is over when the queue of promises is empty.
      queueMicrotask(this.#whenSettled);
    }
  };

  readonly #whenSettled = (): void => {
    process.nextTick(this.#goOn);
  };

  readonly #goOn = (): void => {
    if (this.#now() < this.#until) this.#serveNext();
    else setImmediate(this.#begin);
  };
}
