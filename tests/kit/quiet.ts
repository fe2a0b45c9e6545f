import type { CounterName, Log, LogFields, Meter, Sessions } from "../../src/contract/index.ts";
import { GatewayError } from "../../src/contract/index.ts";

/** A log that keeps its lines for the test to look at. */
export class KeptLog implements Log {
  readonly lines: { level: string; message: string; fields: LogFields }[];

  constructor(lines: KeptLog["lines"] = []) {
    this.lines = lines;
  }

  #add(level: string, message: string, fields: LogFields = {}): void {
    // Copied: a real log reads the fields at once.
    this.lines.push({ level, message, fields: { ...fields } });
  }

  debug = (message: string, fields?: LogFields): void => this.#add("debug", message, fields);
  info = (message: string, fields?: LogFields): void => this.#add("info", message, fields);
  warn = (message: string, fields?: LogFields): void => this.#add("warn", message, fields);
  error = (message: string, fields?: LogFields): void => this.#add("error", message, fields);
  child = (): Log => this;
}

/** Counts by `name` and by `name label`. */
export class KeptMeter implements Meter {
  readonly counts = new Map<string, number>();

  count(name: CounterName, label = "", by = 1): void {
    for (const key of [name, `${name} ${label}`]) this.counts.set(key, (this.counts.get(key) ?? 0) + by);
  }

  of(key: string): number {
    return this.counts.get(key) ?? 0;
  }
}

/** No client can be reached outside a call. */
export const noSessions: Sessions = {
  notice: () => undefined,
  ask: () => Promise.reject(new GatewayError("NOT_ALLOWED")),
};
