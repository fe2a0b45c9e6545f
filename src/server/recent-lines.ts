/** The last lines of the log, for operators who look into a running gateway. Bounded in number and size. */
import { LOG_LEVELS, type LogLevel } from "./log-level.ts";

const MAX_LINES = 1_000;
const MAX_CHARACTERS = 256 * 1024;

export type KeptLine = { readonly level: LogLevel /** One JSON object. */; readonly text: string };

export class RecentLines {
  readonly #lines: KeptLine[] = [];
  readonly #listeners = new Set<(line: KeptLine) => void>();
  #characters = 0;

  add(level: LogLevel, text: string): void {
    const line = { level, text };
    this.#lines.push(line);
    this.#characters += text.length;
    // In one go, a quarter at a time: every call adds a line, and taking them off one by one would move all the others.
    while (this.#lines.length > MAX_LINES || this.#characters > MAX_CHARACTERS) this.#forget();
    for (const listener of this.#listeners) listener(line);
  }

  #forget(): void {
    const gone = this.#lines.splice(0, Math.ceil(this.#lines.length / 4));
    for (const { text } of gone) this.#characters -= text.length;
  }

  /** Oldest first; at most `limit` of those that are at least so important and have all of these words. */
  list({ level, limit, words }: LineFilter): string[] {
    return this.#lines
      .filter((line) => isMeant(line, level, words))
      .slice(-limit)
      .map(({ text }) => text);
  }

  /** Lines as they come. Returns how to stop. */
  listen({ level, words }: Omit<LineFilter, "limit">, onLine: (text: string) => void): () => void {
    const listener = (line: KeptLine) => {
      if (isMeant(line, level, words)) onLine(line.text);
    };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

export type LineFilter = { readonly level: LogLevel; readonly limit: number; readonly words: readonly string[] };

function isMeant(line: KeptLine, level: LogLevel, words: readonly string[]): boolean {
  return LOG_LEVELS.indexOf(line.level) >= LOG_LEVELS.indexOf(level) && words.every((word) => line.text.includes(word));
}
