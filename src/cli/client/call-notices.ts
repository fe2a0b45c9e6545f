/** What a call says while it runs: progress in place on a terminal, line by line elsewhere, and what the server logs. */
import { type JsonObject, textOf } from "../json.ts";
import { cut, plainLine } from "../output/plain.ts";

type Output = Pick<NodeJS.WriteStream, "write"> & { readonly isTTY?: boolean; readonly columns?: number };

const CLEAR_LINE = "\r\u001b[K";

export class CallNotices {
  readonly #output: Output;
  #hasProgress = false;

  constructor(output: Output) {
    this.#output = output;
  }

  hear(method: string, params: JsonObject): void {
    if (method === "notifications/progress") this.#progress(progressText(params));
    else if (method === "notifications/message") this.#line(logText(params));
  }

  /** Before anything else is written. */
  end(): void {
    if (this.#hasProgress) this.#output.write(CLEAR_LINE);
    this.#hasProgress = false;
  }

  #progress(text: string): void {
    if (!this.#output.isTTY) return this.#line(text);
    this.#output.write(`${CLEAR_LINE}${cut(text, (this.#output.columns ?? 80) - 1)}`);
    this.#hasProgress = true;
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
