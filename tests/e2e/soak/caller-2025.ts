/** A client of 2025-11-25 in front of a server that wants input: it is asked on the stream of its call. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RpcMessage } from "../kit/rpc.ts";
import { answerTo, expectedText, type Json, textOf } from "./asking.ts";
import { type Caller, type CallerOptions, unexpected } from "./caller.ts";
import type { Exchange, WireRequest } from "./wire.ts";

const VERSION = "2025-11-25";
const INITIALIZE = {
  id: 0,
  method: "initialize",
  params: { protocolVersion: VERSION, capabilities: { elicitation: {} }, clientInfo: { name: "soak", version: "1" } },
};

export class Caller2025 implements Caller {
  readonly #options: CallerOptions;
  /** The headers of its session; a client that vanished begins another. */
  #session: Record<string, string> | undefined;
  /** What the server says outside calls; not every client listens. */
  #listening: Exchange | undefined;
  #lastId = 0;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  async call(tag: string): Promise<void> {
    const call = await this.#begin(tag);
    for await (const message of call.messages()) {
      if (message.method === "elicitation/create") await this.#post(answerOf(message)).last();
      else if (textOf(message.result) === expectedText(tag)) return;
      else throw unexpected(tag, expectedText(tag), message);
    }
    throw unexpected(tag, expectedText(tag), "the end of the stream");
  }

  async vanish(tag: string): Promise<void> {
    const { random } = this.#options;
    const point = random.below(5);
    if (point === 0) return await this.#vanishOpening();
    const call = await this.#begin(tag);
    if (point === 1) await sleep(random.below(10));
    else await this.#vanishAsked(tag, call, point);
    call.vanish();
    this.#leave();
  }

  async #vanishOpening(): Promise<void> {
    const { random } = this.#options;
    this.#leave();
    const opening = this.#post(INITIALIZE, random.below(2) === 0);
    await sleep(random.below(5));
    opening.vanish();
  }

  /** Gone with the question, in the middle of the answer, after it, or by ending the session. */
  async #vanishAsked(tag: string, call: Exchange, point: number): Promise<void> {
    for await (const message of call.messages()) {
      if (message.method !== "elicitation/create") continue;
      if (point === 2) return;
      if (point === 3) {
        const answer = this.#post(answerOf(message), this.#options.random.below(2) === 0);
        await sleep(this.#options.random.below(4));
        return answer.vanish();
      }
      await this.#options.wire.send({ ...this.#request(), method: "DELETE" }).last();
      return;
    }
    throw unexpected(tag, "a question", "the end of the stream");
  }

  async #begin(tag: string): Promise<Exchange> {
    if (!this.#session) await this.#open();
    const params = { name: "ask", arguments: { tag } };
    return this.#post({ id: ++this.#lastId, method: "tools/call", params });
  }

  async #open(): Promise<void> {
    const opening = this.#post(INITIALIZE);
    const answer = await opening.last();
    const id = await opening.header("mcp-session-id");
    if (id === undefined) throw unexpected("initialize", "a session id", answer);
    this.#session = { "mcp-session-id": id, "mcp-protocol-version": VERSION };
    await this.#post({ method: "notifications/initialized" }).last();
    if (this.#options.random.below(2) === 0)
      this.#listening = this.#options.wire.send({ ...this.#request(), method: "GET" });
  }

  #leave(): void {
    this.#listening?.vanish();
    this.#listening = undefined;
    this.#session = undefined;
  }

  #post(message: Json, isCut = false): Exchange {
    return this.#options.wire.send({ ...this.#request(), body: JSON.stringify({ jsonrpc: "2.0", ...message }), isCut });
  }

  #request(): WireRequest {
    return { url: this.#options.url, ...(this.#session && { headers: this.#session }) };
  }

  /** Ends what the soak leaves open on purpose: this client goes home as it should. */
  async close(): Promise<void> {
    if (this.#session) await this.#options.wire.send({ ...this.#request(), method: "DELETE" }).last();
    this.#leave();
  }
}

function answerOf({ id, params }: RpcMessage): Json {
  return { id, result: answerTo(params) };
}
