import type { TrailFeed } from "../../contract/index.ts";
import type { AuditSink } from "./audit-sink.ts";

/** Events for whoever listens in this process; nothing is made while nobody does. */
export class LiveSink implements AuditSink, TrailFeed {
  readonly #listeners = new Set<(lines: readonly string[]) => void>();

  get isWanted(): boolean {
    return this.#listeners.size > 0;
  }

  listen(hear: (lines: readonly string[]) => void): () => void {
    const own = (lines: readonly string[]) => hear(lines);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  take(lines: string): void {
    const events = lines.split("\n");
    for (const hear of this.#listeners) hear(events);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
  }
}
