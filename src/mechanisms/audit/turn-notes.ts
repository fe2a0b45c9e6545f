import type { Entry } from "./block.ts";

/** What waits until its event is safe. */
export interface Held {
  release(): void;
}

/** One write to the spool for everything that happens in one turn of the event loop: the write is most of what an event costs. */
export class TurnNotes {
  readonly #note: (entries: readonly Entry[]) => void;
  #entries: Entry[] = [];
  #held: Held[] = [];
  #turn: PromiseWithResolvers<void> | undefined;

  constructor(note: (entries: readonly Entry[]) => void) {
    this.#note = note;
  }

  /** The same promise for everything of the turn. */
  add(entry: Entry, held: Held): Promise<void> {
    this.#entries.push(entry);
    this.#held.push(held);
    if (this.#entries.length >= MAX_ENTRIES) {
      this.flush();
      return Promise.resolve();
    }
    if (!this.#turn) {
      this.#turn = Promise.withResolvers();
      setImmediate(this.#onTurn);
    }
    return this.#turn.promise;
  }

  flush(): void {
    const [entries, held, turn] = [this.#entries, this.#held, this.#turn];
    if (entries.length === 0) return;
    [this.#entries, this.#held, this.#turn] = [[], [], undefined];
    this.#note(entries);
    for (const one of held) one.release();
    turn?.resolve();
  }

  readonly #onTurn = (): void => this.flush();
}

const MAX_ENTRIES = 1_024;
