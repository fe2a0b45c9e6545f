import { faultPoint } from "../../contract/index.ts";
import type { Entry } from "./block.ts";

/** What waits until its event is safe. */
export interface Held {
  /** Never throws: others are released with it. */
  release(): void;
}

/** One write to the spool for everything that happens within a few turns of the event loop: the write is much of what an event costs. */
export class TurnNotes {
  readonly #note: (entries: readonly Entry[]) => void;
  #entries: Entry[] = [];
  #held: Held[] = [];
  #turn: PromiseWithResolvers<void> | undefined;
  /** How many turns of the event loop are over since the first of them. */
  #turns = 0;

  constructor(note: (entries: readonly Entry[]) => void) {
    this.#note = note;
  }

  /** The same promise for everything of these turns. */
  add(entry: Entry, held: Held): Promise<void> {
    this.#entries.push(entry);
    this.#held.push(held);
    if (this.#entries.length >= MAX_ENTRIES) {
      this.flush();
      return Promise.resolve();
    }
    if (!this.#turn) {
      this.#turn = Promise.withResolvers();
      this.#turns = 0;
      setImmediate(this.#onTurn);
    }
    return this.#turn.promise;
  }

  flush(): void {
    const [entries, held, turn] = [this.#entries, this.#held, this.#turn];
    if (entries.length === 0) return;
    [this.#entries, this.#held, this.#turn] = [[], [], undefined];
    faultPoint("audit.turn.noting");
    this.#note(entries);
    for (const one of held) one.release();
    turn?.resolve();
  }

  /** With something to do there is no waiting between turns: where nothing else happens they take microseconds. */
  readonly #onTurn = (): void => {
    if (this.#entries.length === 0) return;
    if (++this.#turns >= TURNS) this.flush();
    else setImmediate(this.#onTurn);
  };
}

const MAX_ENTRIES = 1_024;
/** Answers that leave together cost less, and the next requests come together: with 5 turns, a fifth of a recorded call. */
const TURNS = 5;
