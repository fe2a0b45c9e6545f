/** A client of 2026-07-28: no session; some of its calls become tasks, which it asks about until they are over. */
import { setTimeout as wait } from "node:timers/promises";
import type { Ending, Tally } from "../outcome.ts";
import { type Caller, Exchanger, type Got } from "./exchange.ts";
import { sendModern } from "./modern-request.ts";

const PATIENCE_MS = 40_000;

export type ModernClientOptions = {
  readonly name: string;
  readonly kind: string;
  readonly url: string;
  readonly tally: Tally;
  readonly hasKeys?: boolean;
  readonly caller?: Caller | undefined;
};

type ErrorFacts = { readonly code?: string };
type Result = {
  readonly resultType?: string;
  readonly taskId?: string;
  readonly status?: string;
  readonly statusMessage?: string;
  readonly result?: Result;
  readonly content?: readonly { readonly text?: string }[];
  readonly _meta?: Readonly<Record<string, ErrorFacts | undefined>>;
};
type Answer = {
  readonly id?: number;
  readonly result?: Result;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: ErrorFacts };
};

export class ModernClient {
  readonly options: ModernClientOptions;
  readonly #exchanger: Exchanger;
  #id = 0;
  #marks = 0;

  constructor(options: ModernClientOptions) {
    this.options = options;
    this.#exchanger = new Exchanger(options.url, options.caller);
  }

  async call(tool: string, args: object = {}): Promise<Ending> {
    const { tally, kind, name, hasKeys } = this.options;
    const mark = `${name}-${++this.#marks}`;
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const got = await this.#request(
        "tools/call",
        { name: tool, arguments: { mark, ...args } },
        { key: hasKeys ? mark : undefined },
      );
      const ending = this.#judge(mark, got);
      if ((ending === "refused" || (hasKeys === true && ending === "cut")) && performance.now() < until) {
        await wait(100);
        continue;
      }
      if (ending === "answered" && !tool.endsWith("echo")) tally.answered.add(mark);
      if (ending === "refused") tally.refused.add(mark);
      tally.count(kind, ending);
      return ending;
    }
  }

  /** Starts a task and asks about it until it is over. A task whose id we were told must never be unknown. */
  async task(tool: string, args: object): Promise<void> {
    const { tally, kind, name } = this.options;
    const mark = `${name}-${++this.#marks}`;
    const got = await this.#request("tools/call", { name: tool, arguments: { mark, ...args } }, { hasTasks: true });
    const taskId = parse(got.text)?.result?.taskId;
    if (taskId === undefined) {
      const ending = this.#judge(mark, got);
      if (ending === "refused") tally.refused.add(mark);
      return tally.count(kind, `${ending} at once`);
    }
    tally.tasks.add(taskId);
    const status = await this.follow(taskId, mark);
    // It was answered like any other call, only later.
    if (got.attempt && status === "completed") Object.assign(got.attempt, { code: "ok", isCall: true });
    tally.count(kind, `task ${status}`);
  }

  /** The last status of a task. */
  async follow(taskId: string, mark: string): Promise<string> {
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until) {
      const got = await this.#request("tasks/get", { taskId }, { hasTasks: true });
      const answer = parse(got.text);
      if (got.status === 200 && answer?.error?.code === -32602) {
        this.options.tally.violate(`the task of ${mark} is lost: ${answer.error.message}`);
        return "lost";
      }
      const status = answer?.result?.status;
      if (status === "completed" && !JSON.stringify(answer?.result).includes(mark))
        this.options.tally.violate(`the task of ${mark} ended with another's result: ${got.text.slice(0, 300)}`);
      if (status === "completed") this.options.tally.answered.add(mark);
      if (status !== undefined && status !== "working" && status !== "input_required") return status;
      await wait(150);
    }
    this.options.tally.violate(`the task of ${mark} did not end`);
    return "open";
  }

  #judge(mark: string, got: Got): Ending {
    const { tally } = this.options;
    if (got.status === 503) return "refused";
    if (got.status === 0 || got.isCut || got.status >= 500) return "cut";
    const answer = parse(got.text);
    if (answer?.id !== this.#id) {
      tally.violate(`${mark} got a wrong answer: ${got.status} ${got.text.slice(0, 300)}`);
      return "failed";
    }
    const code = answer.result?._meta?.["dev.isthmus/error"]?.code ?? answer.error?.data?.code;
    if (code === "OUTCOME_UNKNOWN") return "unknown";
    if (code === "STATE_UNAVAILABLE" || code === "NOT_READY" || code === "PROVIDER_UNREACHABLE") return "refused";
    if (code !== undefined || answer.error) {
      tally.count("errors", code ?? `${answer.error?.code} ${answer.error?.message}`);
      return "failed";
    }
    if (answer.result?.content?.[0]?.text?.includes(`"${mark}"`)) return "answered";
    tally.violate(`${mark} got an answer that is not its own: ${got.text.slice(0, 300)}`);
    return "failed";
  }

  #request(
    method: string,
    params: { name?: string; taskId?: string; arguments?: object },
    { key, hasTasks }: { key?: string | undefined; hasTasks?: boolean },
  ): Promise<Got> {
    const id = ++this.#id;
    return sendModern(this.#exchanger, {
      id,
      method,
      params,
      name: this.options.name,
      key,
      ...(hasTasks && { hasTasks }),
    });
  }

  close(): void {
    this.#exchanger.close();
  }
}

/** The answer, whole or as the last event of a stream. */
function parse(text: string): Answer | undefined {
  const data = text.startsWith("{")
    ? text
    : (text
        .split("\n")
        .findLast((line) => line.startsWith("data:"))
        ?.slice(5) ?? "");
  try {
    return JSON.parse(data) as Answer;
  } catch {
    return undefined;
  }
}
