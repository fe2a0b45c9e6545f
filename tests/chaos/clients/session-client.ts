/**
 * A client of the 2025 era that follows the protocol to the letter: it keeps its session, resumes a stream that broke off,
 * and repeats a call only under the key it gave it.
 */
import { setTimeout as wait } from "node:timers/promises";
import { endAttempt } from "../governed/attempts.ts";
import type { Ending, Tally } from "../outcome.ts";
import { type Caller, Exchanger, type Got } from "./exchange.ts";
import { eventsIn } from "./sse-text.ts";

export type SessionClientOptions = {
  readonly name: string;
  readonly kind: string;
  readonly url: string;
  readonly tally: Tally;
  readonly capabilities?: object;
  /** json: answers come whole; stream: as an event stream that can be resumed. */
  readonly accept?: "json" | "stream";
  /** Every call has a key, and is repeated until somebody says how it ended. */
  readonly hasKeys?: boolean;
  readonly caller?: Caller | undefined;
};

type Answer = {
  readonly id?: number;
  readonly result?: {
    readonly isError?: boolean;
    readonly content?: readonly { readonly text?: string }[];
    readonly _meta?: Readonly<Record<string, { readonly code?: string } | undefined>>;
  };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: { readonly code?: string } };
};

export type Said = { readonly mark: string; readonly session: string; readonly count: number; readonly pid: number };

const VERSION = "2025-11-25";
/** A call that nobody ends is a call that is lost. */
const PATIENCE_MS = 40_000;

export class SessionClient {
  readonly options: SessionClientOptions;
  readonly #exchanger: Exchanger;
  #session = "";
  #id = 0;
  #marks = 0;
  /** Calls with keys that were answered, and how. */
  readonly #acknowledged: { readonly mark: string; readonly params: object; readonly said: string }[] = [];

  constructor(options: SessionClientOptions) {
    this.options = options;
    this.#exchanger = new Exchanger(options.url, options.caller);
  }

  get sessionId(): string {
    return this.#session;
  }

  /** Opens the session; a gateway that refuses for now is asked again. */
  async open(): Promise<void> {
    const { capabilities = {}, name } = this.options;
    const params = { protocolVersion: VERSION, capabilities, clientInfo: { name, version: "1.0.0" } };
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const got = await this.#post({ jsonrpc: "2.0", id: ++this.#id, method: "initialize", params });
      const session = got.headers["mcp-session-id"];
      if (got.status === 200 && typeof session === "string") {
        this.#session = session;
        break;
      }
      if (performance.now() > until) throw new Error(`${name} could not open a session: ${got.status} ${got.text}`);
      await wait(100);
    }
    await this.#post({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  /** Makes one call and says how it ended; the answer only where it was the right one. */
  async call(tool: string, args: object = {}): Promise<{ ending: Ending; said?: Said }> {
    const { name, kind, tally, hasKeys } = this.options;
    const mark = `${name}-${++this.#marks}`;
    const params = { name: tool, arguments: { mark, ...args } };
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      // A repeat is another request for the same call: its key says so, its id is its own.
      const id = ++this.#id;
      const message = { jsonrpc: "2.0", id, method: "tools/call", params };
      const { ending, said } = this.#judge(mark, id, await this.#exchange(message, hasKeys ? mark : undefined));
      const mayRepeat = ending === "refused" || (hasKeys === true && ending === "cut");
      if (mayRepeat && performance.now() < until) {
        await wait(100);
        continue;
      }
      if (ending === "answered" && !tool.endsWith("echo")) tally.answered.add(mark);
      if (ending === "refused") tally.refused.add(mark);
      if (hasKeys && said) this.#acknowledged.push({ mark, params, said: JSON.stringify(said) });
      if (performance.now() > until + 5_000) tally.violate(`${mark} did not end`);
      tally.count(kind, ending);
      return said === undefined ? { ending } : { ending, said };
    }
  }

  /** Asks again for everything that was answered under a key: it must be the same answer. */
  async repeatAcknowledged(): Promise<void> {
    const { tally, kind } = this.options;
    for (const { mark, params, said } of this.#acknowledged) {
      const id = ++this.#id;
      const message = { jsonrpc: "2.0", id, method: "tools/call", params };
      const again = this.#judge(mark, id, await this.#exchange(message, mark));
      if (JSON.stringify(again.said) === said) tally.count(kind, "same again");
      else tally.violate(`${mark} was answered with ${said}, and then: ${again.ending} ${JSON.stringify(again.said)}`);
    }
  }

  async #exchange(message: { id: number }, key: string | undefined): Promise<Got> {
    const isOver = (text: string) => answerIn(text, message.id) !== undefined;
    let got = await this.#post(message, key, isOver);
    // A stream that broke off is asked for again, from behind the last event that came.
    let last: string | undefined;
    let text = got.text;
    const { attempt } = got;
    const until = performance.now() + PATIENCE_MS;
    while (isStream(got) && !isOver(text) && performance.now() < until) {
      last = eventsIn(got.text).findLast(({ id }) => id !== undefined)?.id ?? last;
      if (last === undefined) break;
      await wait(50);
      const resumed = await this.#exchanger.send(
        { method: "GET", headers: { ...this.#headers(), "last-event-id": last } },
        isOver,
      );
      if (resumed.status === 404) return resumed;
      if (resumed.status === 204) return { ...got, isCut: true };
      if (resumed.status !== 200) continue;
      got = resumed;
      text += resumed.text;
    }
    if (attempt) endAttempt(attempt, message.id, text);
    return isStream(got) ? { ...got, text, isCut: !isOver(text) } : got;
  }

  #judge(mark: string, id: number, got: Got): { ending: Ending; said?: Said } {
    const { tally, name } = this.options;
    if (got.status === 404) {
      tally.violate(`${name} lost its session at ${mark}: ${got.text}`);
      return { ending: "failed" };
    }
    if (got.status === 503) return { ending: "refused" };
    if (got.status === 0 || got.isCut || (got.status >= 500 && got.status !== 503)) return { ending: "cut" };
    const answer = isStream(got) ? answerIn(got.text, id) : (parse(got.text) as Answer | undefined);
    if (answer?.id !== id) {
      tally.violate(`${mark} got a wrong answer: ${got.status} ${got.text.slice(0, 300)}`);
      return { ending: "failed" };
    }
    return this.#judgeAnswer(mark, answer);
  }

  #judgeAnswer(mark: string, { result, error }: Answer): { ending: Ending; said?: Said } {
    const code = result?._meta?.["dev.isthmus/error"]?.code ?? error?.data?.code;
    if (code === "OUTCOME_UNKNOWN") return { ending: "unknown" };
    if (code === "STATE_UNAVAILABLE" || code === "NOT_READY" || code === "PROVIDER_UNREACHABLE")
      return { ending: "refused" };
    if (code !== undefined || error) {
      this.options.tally.count("errors", code ?? `${error?.code} ${error?.message}`);
      return { ending: "failed" };
    }
    const said = parse(result?.content?.[0]?.text ?? "") as Said | undefined;
    if (said?.mark === mark) return { ending: "answered", said };
    this.options.tally.violate(`${mark} got an answer that is not its own: ${JSON.stringify(result).slice(0, 300)}`);
    return { ending: "failed" };
  }

  #post(message: object, key?: string, isEnough?: (text: string) => boolean): Promise<Got> {
    const headers = { ...this.#headers(), ...(key !== undefined && { "idempotency-key": key }) };
    return this.#exchanger.send({ method: "POST", headers, body: JSON.stringify(message) }, isEnough);
  }

  #headers(): Record<string, string> {
    return {
      "content-type": "application/json",
      accept: this.options.accept === "stream" ? "text/event-stream" : "application/json, text/event-stream",
      "mcp-protocol-version": VERSION,
      ...(this.#session !== "" && { "mcp-session-id": this.#session }),
    };
  }

  /** Ends the session. */
  async close(): Promise<void> {
    await this.#exchanger.send({ method: "DELETE", headers: this.#headers() });
    this.#exchanger.close();
  }
}

function isStream({ headers }: Got): boolean {
  return String(headers["content-type"] ?? "").startsWith("text/event-stream");
}

function answerIn(text: string, id: number): Answer | undefined {
  if (!text.includes(`"id":${id}`)) return undefined;
  return eventsIn(text)
    .map(({ data }) => parse(data) as Answer | undefined)
    .find((message) => message?.id === id && (message.result !== undefined || message.error !== undefined));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
