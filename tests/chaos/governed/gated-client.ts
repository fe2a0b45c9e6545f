/** Asks for what cannot be taken back, again and again until it is decided. Each mark is one wish. */
import { setTimeout as wait } from "node:timers/promises";
import type { Caller } from "../clients/exchange.ts";
import { GATED, type Tally } from "../outcome.ts";
import { Calls } from "./calls.ts";

const PATIENCE_MS = 30_000;
const KIND = "calls that wait for a yes";

export type GatedClientOptions = {
  readonly name: string;
  readonly caller: Caller;
  readonly tally: Tally;
  /** keys: each wish has one. tasks: what waits is asked about as a task. */
  readonly manner: "plain" | "keys" | "tasks";
};

export class GatedClient {
  readonly #calls: Calls;
  readonly #name: string;
  readonly #tally: Tally;
  readonly #hasKeys: boolean;
  readonly #hasTasks: boolean;
  #marks = 0;

  constructor(origin: string, options: GatedClientOptions) {
    this.#name = `${GATED}${options.name}`;
    this.#tally = options.tally;
    this.#hasKeys = options.manner === "keys";
    this.#hasTasks = options.manner === "tasks";
    this.#calls = new Calls(origin, this.#name, options.caller);
  }

  /** One wish, to its end. */
  async wish(tool: string): Promise<void> {
    const mark = `${this.#name}-${++this.#marks}`;
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until) {
      const { code, text } = await this.#ask(tool, mark);
      const ending = endingOf(code, text);
      if (ending !== undefined) return this.#end(mark, ending, text);
      this.#tally.note(KIND, code === "CONFIRMATION_REQUIRED" ? "told to wait" : `again after ${code}`);
      await wait(100);
    }
    this.#tally.note(KIND, "given up");
  }

  async #ask(tool: string, mark: string): Promise<{ code: string; text: string }> {
    const more = { key: this.#hasKeys ? mark : undefined, hasTasks: this.#hasTasks };
    const asked = await this.#calls.call(tool, { mark }, more);
    const taskId = /"taskId":"([^"]+)"/.exec(asked.text)?.[1];
    return asked.code === "task" && taskId !== undefined ? await this.#follow(taskId, mark) : asked;
  }

  /** How a task ended, in the words of a call. */
  async #follow(taskId: string, mark: string): Promise<{ code: string; text: string }> {
    this.#tally.note(KIND, "went on as a task");
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until) {
      const { status, text } = await this.#calls.task(taskId);
      if (status === 200 && text.includes('"code":-32602')) this.#tally.violate(`the task of ${mark} is lost: ${text}`);
      const code = /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? "ok";
      if (/"status":"(completed|failed)"/.test(text)) return { code, text };
      if (text.includes('"status":"cancelled"')) return { code: "CANCELLED", text };
      await wait(150);
    }
    return { code: "task without an end", text: "" };
  }

  #end(mark: string, ending: string, text: string): void {
    this.#tally.note(KIND, ending);
    if (ending === "made" && !text.includes(mark)) this.#tally.violate(`${mark} got another's answer: ${text}`);
    if (ending === "made") this.#tally.answered.add(mark);
    if (ending === "denied") this.#tally.refused.add(mark);
  }

  close(): void {
    this.#calls.close();
  }
}

/** Undefined: it is worth asking again. What was withdrawn or has expired is asked for anew. */
function endingOf(code: string, text: string): string | undefined {
  if (code === "ok") return "made";
  if (code === "OUTCOME_UNKNOWN") return "unknown";
  return code === "NOT_ALLOWED" && text.includes("was denied") ? "denied" : undefined;
}
