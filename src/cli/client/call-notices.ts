/** What a call says while it runs: progress in place on a terminal, line by line elsewhere, and what the server logs. */
import { type JsonObject, textOf } from "../json.ts";
import { cut, plainLine } from "../output/plain.ts";

type Output = Pick<NodeJS.WriteStream, "write"> & { readonly isTTY?: boolean; readonly columns?: number };

const CLEAR_LINE = "\r\u001b[K";
/** Less is no step: a gateway that only says that a call waits counts in millionths. */
const LEAST_STEP = 0.001;

export class CallNotices {
  readonly #output: Output;
  #hasProgress = false;
  /** What stands on lines of its own already. */
  #told: string | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  hear(method: string, params: JsonObject): void {
    if (method === "notifications/progress") this.#hearProgress(params);
    else if (method === "notifications/message") this.#line(logText(params));
  }

  #hearProgress(params: JsonObject): void {
    const message = plainLine(textOf(params.message) ?? "");
    const isLong = message.length >= (this.#output.columns ?? 80);
    const isStep = Number(params.progress) >= LEAST_STEP;
    if (params.total === undefined && message !== "" && (isLong || !isStep)) this.#tell(message);
    else this.#progress(progressText(params));
  }

  /** Before anything else is written. */
  end(): void {
    if (this.#hasProgress) this.#output.write(CLEAR_LINE);
    this.#hasProgress = false;
  }

  /** Whether this stands on the screen already, whole. */
  hasTold(words: string): boolean {
    return this.#told?.includes(words) ?? false;
  }

  #progress(text: string): void {
    if (!this.#output.isTTY) return this.#line(text);
    this.#output.write(`${CLEAR_LINE}${cut(text, (this.#output.columns ?? 80) - 1)}`);
    this.#hasProgress = true;
  }

  /** No step of so many, but what a person must read, such as where a yes is given: never cut, and told once. */
  #tell(message: string): void {
    if (message === this.#told) return;
    this.#told = message;
    this.#line(message);
  }

  #line(text: string): void {
    this.end();
    this.#output.write(`${text}\n`);
  }
}

function progressText({ progress, total, message }: JsonObject): string {
  const step = total === undefined ? String(progress) : `${progress}/${total}`;
  const about = textOf(message);
  return plainLine(about === undefined ? step : `${step} ${about}`);
}

function logText({ level, data }: JsonObject): string {
  const words = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  return plainLine(`${textOf(level) ?? "info"}: ${words}`);
}
