/** Single calls of 2026-07-28, for clients that look at each answer themselves. */
import { type Caller, Exchanger, type Got } from "../clients/exchange.ts";
import { sendModern } from "../clients/modern-request.ts";

export type Called = {
  /** "ok", one of our codes, the number of an error, `HTTP n`, or "cut". */
  readonly code: string;
  readonly text: string;
  readonly sentAt: number;
};

export class Calls {
  readonly #exchanger: Exchanger;
  readonly #name: string;
  #id = 0;

  constructor(origin: string, name: string, caller: Caller) {
    this.#exchanger = new Exchanger(`${origin}/mcp`, caller);
    this.#name = name;
  }

  async call(tool: string, args: object, more: { key?: string | undefined; hasTasks?: boolean } = {}): Promise<Called> {
    const sentAt = Date.now();
    const id = ++this.#id;
    const params = { name: tool, arguments: args };
    const got = await sendModern(this.#exchanger, { id, method: "tools/call", params, name: this.#name, ...more });
    return { code: codeOf(got), text: got.text, sentAt };
  }

  /** What is said of a task. */
  task(taskId: string): Promise<Got> {
    const id = ++this.#id;
    const request = { id, method: "tasks/get", params: { taskId }, name: this.#name, hasTasks: true };
    return sendModern(this.#exchanger, request);
  }

  close(): void {
    this.#exchanger.close();
  }
}

/** Of a caller whose calls are watched. */
function codeOf({ status, isCut, attempt }: Got): string {
  if (attempt && attempt.code !== "") return attempt.code;
  return status === 0 || isCut || status === 502 || status === 504 ? "cut" : `HTTP ${status}`;
}
