import type { Log } from "../../contract/index.ts";

/** Those who want to hear of something. One that throws keeps nobody else from hearing it. */
export class Listeners<T> {
  readonly #log: Log;
  readonly #listeners = new Set<(word: T) => void>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Returns how to stop hearing. */
  add(listener: (word: T) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(word: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(word);
      } catch (cause) {
        this.#log.error("listener failed", { cause });
      }
    }
  }
}
