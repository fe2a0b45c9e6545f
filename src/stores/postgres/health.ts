import { GatewayError, type Log, type Timer, type Timers } from "../../contract/index.ts";

export type HealthOptions = {
  readonly store: string;
  readonly timers: Timers;
  readonly log: Log;
  /** Whether it answers again. May take its time: the next look comes after it. */
  readonly probe: () => Promise<boolean>;
};

const LOOK_EVERY_MS = 500;

/** Whether a store answers. Once it does not, it is looked at until it does. */
export class Health {
  readonly #options: HealthOptions;
  readonly #listeners = new Set<(isUp: boolean) => void>();
  #isUp = true;
  #isClosed = false;
  #look: Timer | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#isUp && !this.#isClosed;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  listen(listener: (isUp: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** `reason` goes to the log: it holds no secret. */
  down(reason: string): void {
    if (!this.#isUp || this.#isClosed) return;
    this.#isUp = false;
    this.#options.log.warn("store does not answer", { store: this.#options.store, reason });
    this.#tell();
    this.#lookLater();
  }

  close(): void {
    this.#isClosed = true;
    this.#look?.cancel();
    this.#listeners.clear();
  }

  /** What everybody gets while it is away. */
  refusal(): GatewayError {
    return new GatewayError("STATE_UNAVAILABLE", {
      ...(this.#isClosed && { message: "The store behind the gateway was closed." }),
      details: { store: this.#options.store },
    });
  }

  #lookLater(): void {
    this.#look = this.#options.timers.after(LOOK_EVERY_MS, () => {
      this.#options.probe().then(
        (isBack) => this.#seen(isBack),
        () => this.#seen(false),
      );
    });
  }

  #seen(isBack: boolean): void {
    if (this.#isClosed || this.#isUp) return;
    if (!isBack) return this.#lookLater();
    this.#isUp = true;
    this.#options.log.info("store answers again", { store: this.#options.store });
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener(this.#isUp);
  }
}
