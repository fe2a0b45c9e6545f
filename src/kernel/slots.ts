import { GatewayError } from "../contract/index.ts";

/** How many calls a provider has at once. The rest waits in line, first come first served; a full line refuses. */
export class Slots {
  readonly #limit: number;
  readonly #maxWaiting: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number, maxWaiting = limit * 4) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  get taken(): number {
    return this.#taken;
  }

  tryTake(): boolean {
    if (this.#taken >= this.#limit) return false;
    this.#taken++;
    return true;
  }

  /** Resolves with a slot, or rejects with OVERLOADED at once when the line is full, or when the signal aborts. */
  take(signal: AbortSignal): Promise<void> {
    if (this.tryTake()) return Promise.resolve();
    if (this.#waiting.size >= this.#maxWaiting) {
      const message = `The provider has ${this.#limit} calls running and ${this.#maxWaiting} waiting.`;
      return Promise.reject(new GatewayError("OVERLOADED", { message }));
    }
    return new Promise((resolve, reject) => {
      const granted = () => {
        signal.removeEventListener("abort", left);
        resolve();
      };
      const left = () => {
        this.#waiting.delete(granted);
        reject(GatewayError.from(signal.reason));
      };
      if (signal.aborted) return left();
      this.#waiting.add(granted);
      signal.addEventListener("abort", left, { once: true });
    });
  }

  free(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#taken--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
