/** Calls that go on during the whole test: each must be answered, and rightly. */
import { post, toolCall } from "../kit/rpc.ts";

export class Traffic {
  count = 0;
  readonly failures: string[] = [];
  readonly #url: string;
  readonly #names: readonly string[];
  readonly #loops: Promise<void>[];
  #isOver = false;

  constructor(url: string, names: readonly string[]) {
    this.#url = url;
    this.#names = names;
    this.#loops = names.map((name) => this.#loop(name));
  }

  async #loop(name: string): Promise<void> {
    while (!this.#isOver) {
      const outcome = await post(this.#url, toolCall(++this.count, name, {})).then(
        ({ messages }) => JSON.stringify(messages.at(-1)),
        (error) => String(error),
      );
      if (!outcome?.includes('"text":"plain good"')) this.failures.push(`${name}: ${outcome}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Resolves when the last calls have been answered. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
    if (this.count < this.#names.length * 10) this.failures.push(`only ${this.count} calls were made`);
  }
}
