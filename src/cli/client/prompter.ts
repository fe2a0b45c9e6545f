/** Lines that a person types, one for each prompt; what is asked steers no terminal. What was typed or pasted ahead is kept for the next one. */
import { createInterface, type Interface } from "node:readline";
import { plainBlanks, plainText } from "../output/plain.ts";

export type Terminal = { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream };

export class Prompter {
  readonly #lines: Interface;
  readonly #output: NodeJS.WritableStream;
  readonly #typed: string[] = [];
  #take: ((line: string | undefined) => void) | undefined;
  #isClosed = false;

  constructor(terminal: Terminal) {
    this.#output = terminal.output;
    this.#lines = createInterface(terminal);
    this.#lines.on("line", (line) => {
      const take = this.#take;
      this.#take = undefined;
      if (take) take(line);
      else this.#typed.push(line);
    });
    this.#lines.on("close", () => {
      this.#isClosed = true;
      this.#take?.(undefined);
    });
    // Readline takes Ctrl-C for itself; it means the whole call here.
    this.#lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  }

  tell(text: string): void {
    this.#output.write(`${plainText(text)}\n`);
  }

  /** Undefined when nothing more will be typed. */
  ask(prompt: string): Promise<string | undefined> {
    this.#lines.setPrompt(plainBlanks(prompt));
    if (this.#isClosed) this.tell(prompt);
    else this.#lines.prompt();
    const typed = this.#typed.shift();
    if (typed !== undefined || this.#isClosed) return Promise.resolve(typed);
    return new Promise((resolve) => {
      this.#take = resolve;
    });
  }

  close(): void {
    this.#lines.close();
  }
}
