/**
 * Addresses that a server of 2026-07-28 wants opened. The 2025 era names each by an id and says when it is done; here the
 * server just asks again until it is. So the client is asked once, and the server as often as it takes.
 */
import { randomUUID } from "node:crypto";
import { type Call, type Clock, decodeString, jsonText, type Payload, payload } from "../../../contract/index.ts";
import type { Question } from "./questions.ts";

const MIN_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5000;
/** What must be left of the call's time to ask once more. */
const RESERVE_MS = 1000;

type Opened = { readonly url: string; readonly id: string; readonly message: string; answer: string | undefined };

export class UrlQuestions {
  readonly #clock: Clock;
  readonly #opened = new Map<string, Opened>();
  /** Of the call's time, which stands still while somebody is asked. */
  #leftMs: number;
  #since: number;
  #polls = 0;

  constructor(call: Call, clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
    this.#leftMs = call.deadline - this.#since;
  }

  /** The question as a client of the 2025 era reads it. */
  inputOf({ key, url, params }: Question): Payload {
    if (url === undefined) return params;
    const id = randomUUID();
    this.#opened.set(key, { url, id, message: decodeString(params.at(["message"])) ?? "", answer: undefined });
    return params.splice(["elicitationId"], jsonText(id));
  }

  onAnswer({ key }: Question, answer: Payload): void {
    const opened = this.#opened.get(key);
    if (!opened) return;
    if (decodeString(answer.at(["action"])) === "accept") opened.answer = answer.text;
    else this.#opened.delete(key);
  }

  /** What the client said to this address under this key before. */
  answerOf({ key, url }: Question): string | undefined {
    const opened = url === undefined ? undefined : this.#opened.get(key);
    return opened?.url === url ? opened?.answer : undefined;
  }

  /** The ids of those that the server does not ask about any more. */
  settle(questions: readonly Question[]): readonly string[] {
    const isOpen = (key: string, { url }: Opened) => questions.some((one) => one.key === key && one.url === url);
    const done = [...this.#opened].filter(([key, opened]) => !isOpen(key, opened));
    for (const [key] of done) this.#opened.delete(key);
    if (this.#opened.size === 0) this.#polls = 0;
    return done.map(([, { id }]) => id);
  }

  pause(): void {
    this.#leftMs -= this.#clock.now() - this.#since;
  }

  resume(): void {
    this.#since = this.#clock.now();
  }

  /** How long to wait before the server is asked again; undefined when the call has no time for that. */
  nextPauseMs(): number | undefined {
    const pauseMs = Math.min(MIN_PAUSE_MS * 2 ** this.#polls++, MAX_PAUSE_MS);
    const leftMs = this.#leftMs - (this.#clock.now() - this.#since);
    return leftMs > pauseMs + RESERVE_MS ? pauseMs : undefined;
  }

  /** Says to the client which addresses are still to be opened before it calls again. */
  fault(): Payload {
    const elicitations = [...this.#opened.values()].map(({ url, id, message }) => ({
      mode: "url",
      message,
      elicitationId: id,
      url,
    }));
    this.#opened.clear();
    return payload(
      jsonText({
        code: -32042,
        message: "The server still waits for an address to be opened.",
        data: { elicitations },
      }),
    );
  }
}
