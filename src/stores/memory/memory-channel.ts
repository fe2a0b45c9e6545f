import type { Channel } from "../../contract/index.ts";

/** Words inside one process. Heard in a later turn, as they would be from another process. */
export class MemoryChannel implements Channel {
  readonly #hearers = new Map<string, Set<(text: string) => void>>();

  publish(topic: string, text: string): void {
    if (!this.#hearers.has(topic)) return;
    setImmediate(() => {
      for (const hear of this.#hearers.get(topic) ?? []) hear(text);
    });
  }

  async subscribe(topic: string, hear: (text: string) => void): Promise<() => Promise<void>> {
    const hearers = this.#hearers.get(topic) ?? new Set();
    this.#hearers.set(topic, hearers);
    // A function of its own, so that one `hear` may be given twice and taken back once.
    const own = (text: string) => hear(text);
    hearers.add(own);
    return async () => {
      hearers.delete(own);
      if (hearers.size === 0 && this.#hearers.get(topic) === hearers) this.#hearers.delete(topic);
    };
  }
}
