import type { Clock, Log, LogFields } from "../../contract/index.ts";

const EVERY_MS = 60_000;

/** A line that others could have us write thousands of times a second: told once, then counted, told again each minute. */
export class RepeatedWarning {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #message: string;
  readonly #level: "warn" | "debug";
  #toldAt: number | undefined;
  #untold = 0;

  constructor(log: Log, clock: Clock, message: string, level: "warn" | "debug" = "warn") {
    this.#log = log;
    this.#clock = clock;
    this.#message = message;
    this.#level = level;
  }

  note(fields: LogFields): void {
    const now = this.#clock.now();
    if (this.#toldAt !== undefined && now - this.#toldAt < EVERY_MS) {
      this.#untold++;
      return;
    }
    this.#toldAt = now;
    this.#tell(fields);
  }

  /** No more will come: what was counted is told. */
  end(): void {
    if (this.#untold > 0) this.#tell({});
  }

  #tell(fields: LogFields): void {
    const untold = this.#untold;
    this.#untold = 0;
    this.#log[this.#level](this.#message, { ...fields, ...(untold > 0 && { untold }) });
  }
}
