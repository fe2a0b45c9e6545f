/** Standard error of a child as debug lines: servers write there what they like, mostly greetings, and some without an end. */
import type { Log, Timer, Timers } from "../../../contract/index.ts";
import { createTellingFilter } from "./telling-lines.ts";

export type StderrLinesOptions = {
  readonly log: Pick<Log, "debug">;
  readonly timers: Timers;
  /** Hears of lines that may say why something does not work. */
  readonly hear: ((line: string) => void) | undefined;
};

const MAX_LINE = 1024;
const WINDOW_MS = 1_000;
/** So many lines are logged in a second; the others are counted. */
const MAX_LOGGED = 100;
/** So many lines of a second are looked at as they come. Of those beyond, the last are, when it is over. */
const MAX_READ = 1_000;
const KEPT_LENGTH = 8 * 1024;

// Invariants:
//  1. The timer is set while `#count` is not 0, and no longer than a second.
//  2. `#kept` is the end of what came since `#count` reached MAX_READ: `#rest` is empty from then on.
export class StderrLines {
  readonly #options: StderrLinesOptions;
  #isTelling = createTellingFilter();
  /** Of a line that has not ended. */
  #rest = "";
  #kept = "";
  #count = 0;
  #timer: Timer | undefined;

  constructor(options: StderrLinesOptions) {
    this.#options = options;
  }

  push(text: string): void {
    const all = this.#rest + text;
    let at = 0;
    for (let end = all.indexOf("\n"); end !== -1 && this.#count < MAX_READ; end = all.indexOf("\n", at)) {
      this.#take(all.slice(at, Math.min(end, at + MAX_LINE)));
      at = end + 1;
    }
    this.#rest = "";
    if (this.#count < MAX_READ) this.#rest = all.slice(at).slice(-MAX_LINE);
    else this.#keep(all.slice(at));
  }

  end(): void {
    this.#endWindow();
    if (this.#rest !== "") this.#take(this.#rest);
    this.#rest = "";
    this.#endWindow();
  }

  #take(line: string): void {
    this.#timer ??= this.#options.timers.after(WINDOW_MS, () => this.#endWindow());
    this.#count++;
    if (this.#count <= MAX_LOGGED && line.trim() !== "") this.#options.log.debug("server wrote to stderr", { line });
    this.#tell(line);
  }

  #tell(line: string): void {
    if (this.#isTelling(line)) this.#options.hear?.(line);
  }

  #keep(text: string): void {
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) this.#count++;
    this.#kept = (this.#kept + text).slice(-KEPT_LENGTH);
  }

  #endWindow(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const lines = this.#count - MAX_LOGGED;
    if (lines > 0) this.#options.log.debug("server wrote more to stderr", { lines });
    this.#count = 0;
    if (this.#kept !== "") this.#tellKept();
  }

  /** What is cut off at its beginning may be read as something that it is not. */
  #tellKept(): void {
    const lines = this.#kept.split("\n");
    if (this.#kept.length === KEPT_LENGTH && lines.length > 1) lines.shift();
    this.#kept = "";
    this.#rest = (lines.pop() ?? "").slice(-MAX_LINE);
    // What stood between is not known: it may have been a frame, or not.
    this.#isTelling = createTellingFilter();
    for (const line of lines) this.#tell(line.slice(0, MAX_LINE));
  }
}
