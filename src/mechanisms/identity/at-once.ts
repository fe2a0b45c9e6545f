import { GatewayError } from "../../contract/index.ts";

/** So many of one kind at once, and no more: those of one cannot take the places of another. */
export class AtOnce {
  readonly #max: number;
  #running = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Rejects with OVERLOADED, or as the work does. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#max) throw new GatewayError("OVERLOADED");
    this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
    }
  }
}
