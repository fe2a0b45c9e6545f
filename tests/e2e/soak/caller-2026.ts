/** A client of 2026-07-28 in front of a server that asks: it is sent away with the question and comes back with the answer. */
import { setTimeout as sleep } from "node:timers/promises";
import { modernBody } from "../../kit/modern-client.ts";
import type { RpcMessage } from "../kit/rpc.ts";
import { answerTo, expectedText, type Json, textOf } from "./asking.ts";
import { type Caller, type CallerOptions, unexpected } from "./caller.ts";
import type { WireRequest } from "./wire.ts";

/** Each has sessions of its own behind the gateway. */
const PROFILES = 8;
/** Longer than the gateway waits for further questions, so that both sides of that moment are met. */
const LONGEST_MS = 40;
const HEADERS = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "ask" };

export class Caller2026 implements Caller {
  readonly #options: CallerOptions;
  readonly #capabilities: Json;
  #lastId = 0;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.#capabilities = { elicitation: {}, experimental: { profile: { number: options.random.below(PROFILES) } } };
  }

  async call(tag: string): Promise<void> {
    const asked = await this.#ask(tag);
    const told = await this.#options.wire.send(this.#request(tag, answersTo(asked))).last();
    if (textOf(told?.result) !== expectedText(tag)) throw unexpected(tag, expectedText(tag), told);
  }

  async vanish(tag: string): Promise<void> {
    const { wire, random } = this.#options;
    const point = random.below(4);
    const isCut = random.below(2) === 0;
    if (point === 0) {
      const first = wire.send({ ...this.#request(tag), isCut });
      await sleep(random.below(LONGEST_MS));
      return first.vanish();
    }
    const asked = await this.#ask(tag);
    // From here on the gateway waits for somebody who does not come back, or not for the whole of the answer.
    if (point === 1) return;
    const second = wire.send({ ...this.#request(tag, answersTo(asked)), isCut: point === 2 && isCut });
    await sleep(random.below(5));
    second.vanish();
  }

  async #ask(tag: string): Promise<Json> {
    const answer = await this.#options.wire.send(this.#request(tag)).last();
    const { result } = answer ?? {};
    if (result?.resultType !== "input_required") throw unexpected(tag, "a question", answer);
    return result;
  }

  #request(tag: string, more: Json = {}): WireRequest {
    const params = { name: "ask", arguments: { tag }, ...more };
    const body = modernBody("tools/call", params, { id: ++this.#lastId, capabilities: this.#capabilities });
    return { url: this.#options.url, headers: HEADERS, body };
  }
}

/** What a client adds to its call to go on with it. */
function answersTo({ inputRequests, requestState }: Json): Json {
  const questions = Object.entries<RpcMessage>(Object(inputRequests));
  const inputResponses = Object.fromEntries(questions.map(([key, { params }]) => [key, answerTo(params)]));
  return { inputResponses, requestState };
}
