/**
 * A batch of 2025-03-26: answered as one array, or as one stream as soon as anything must go out before the answers. Long
 * answers go out as they come, in either form: a client that does not read them is cut off like any other. Its messages are taken
 * in turns, between which others are served: each of them may ask for all that there is to list.
 */
import type { HeldMessage, HttpResponse, Principal, Steps } from "../../../contract/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import { errorText, type Message, MessageFault, skimBatch, skimMessage } from "../../../wire/jsonrpc/index.ts";
import { takeAnswer, takeNotification } from "../notifications.ts";
import type { Outlet, OutletOwner } from "../outlet.ts";
import { handleRequest } from "../requests.ts";
import type { Accepts } from "./accept.ts";
import type { HttpContext } from "./http-context.ts";
import { SseStream } from "./sse-stream.ts";
import { RETRY_LINE } from "./unavailable.ts";

/** So many characters of answers wait for the others of their batch. */
const MAX_KEPT = 1024 * 1024;
const JSON_LINES = "Content-Type: application/json\r\n";

type BatchInput = {
  session: Session;
  principal: Principal;
  response: HttpResponse;
  accepts: Accepts;
  text: string;
  address: string | undefined;
  held: HeldMessage | undefined;
};

/** Throws MessageFault when the batch as a whole cannot be taken; a bad message in it is answered in its place. */
export function handleBatch(http: HttpContext, input: BatchInput): void {
  const { response, accepts, text } = input;
  const messages = skimBatch(text).map(skimOrFault);
  if (messages.some((message) => !(message instanceof MessageFault) && message.method === "initialize")) {
    throw new MessageFault(-32600, "initialize must not be part of a batch");
  }
  const answers = messages.filter((message) => message instanceof MessageFault || message.kind === "request").length;
  const batch = new BatchResponse(http, response, accepts, answers);
  if (http.batches.take(input.principal, takeEach(http, input, messages, batch))) return;
  const message = "Too many batches of this caller wait to be taken; wait for their answers.";
  response.answer(503, JSON_LINES + RETRY_LINE, errorText("null", { code: -32603, message }));
}

function* takeEach(
  http: HttpContext,
  { session, principal, address, held }: BatchInput,
  messages: readonly (Message | MessageFault)[],
  batch: BatchResponse,
): Steps<void> {
  for (const message of messages) {
    const outlet = new BatchOutlet(batch);
    const isAsked = message instanceof MessageFault || message.kind === "request";
    // Nothing is begun for a client that is gone, nor in a session that has ended meanwhile.
    if (session.isEnded || (isAsked && batch.isOver)) {
      if (isAsked) outlet.drop();
      continue;
    }
    try {
      if (message instanceof MessageFault) outlet.answer(faultText(message));
      else if (message.kind === "request")
        handleRequest(http.front, { session, principal, message, outlet, address, held });
      else if (message.kind === "response") takeAnswer(http.front, { session, principal, message });
      else takeNotification(http.front, { session, principal, message, address });
    } catch (error) {
      // The others of the batch are served all the same.
      if (!(error instanceof MessageFault)) http.front.log.error("call failed inside the gateway", { cause: error });
      if (message instanceof MessageFault || message.kind !== "request") continue;
      const fault = error instanceof MessageFault ? error : { code: -32603, message: "The gateway failed." };
      outlet.answer(errorText(message.id, { code: fault.code, message: fault.message }));
    }
    yield;
  }
  if (batch.isEmpty) batch.accept();
}

function faultText({ id, code, message }: MessageFault): string {
  return errorText(id, { code, message });
}

function skimOrFault(text: string): Message | MessageFault {
  try {
    return skimMessage(text);
  } catch (error) {
    if (error instanceof MessageFault) return error;
    throw error;
  }
}

class BatchResponse {
  readonly #http: HttpContext;
  readonly #response: HttpResponse;
  readonly accepts: Accepts;
  readonly owners: OutletOwner[] = [];
  readonly #answers: string[] = [];
  #kept = 0;
  readonly #asked: number;
  #left: number;
  #stream: SseStream | undefined;
  /** The array has begun: its answers go out as they come. */
  #isArrayOpen = false;

  constructor(http: HttpContext, response: HttpResponse, accepts: Accepts, answers: number) {
    this.#http = http;
    this.#response = response;
    this.accepts = accepts;
    this.#asked = answers;
    this.#left = answers;
  }

  get isStream(): boolean {
    return this.#stream !== undefined;
  }

  /** There is nothing in it that is answered. */
  get isEmpty(): boolean {
    return this.#asked === 0;
  }

  /** The client is gone, or was cut off: nothing of an answer reaches anybody. */
  get isOver(): boolean {
    return this.#response.isOver;
  }

  send(text: string, id: string | undefined): boolean {
    this.#stream ??= this.#open();
    return this.#stream.send(text, id);
  }

  answer(text: string | undefined, id?: string): void {
    this.#left--;
    if (text !== undefined) this.#add(text, id);
    if (this.#left === 0) this.#end();
  }

  #add(text: string, id: string | undefined): void {
    if (this.#stream) this.#stream.send(text, id);
    else if (this.#isArrayOpen) this.#response.write(`,${text}`);
    else {
      this.#answers.push(text);
      this.#kept += text.length;
      if (this.#kept > MAX_KEPT && this.#left > 0) this.#sendKept();
    }
  }

  #sendKept(): void {
    if (this.accepts.sse) {
      this.#stream = this.#open();
      return;
    }
    this.#isArrayOpen = true;
    this.#response.open(200, JSON_LINES);
    this.#response.onClose = () => this.#leave();
    this.#response.write(`[${this.#answers.splice(0).join(",")}`);
  }

  #leave(): void {
    for (const owner of this.owners) owner.left();
  }

  accept(): void {
    this.#response.answer(202, "", "");
  }

  #open(): SseStream {
    const stream = new SseStream(this.#response, this.#http.front.timers, {
      drained: () => {
        for (const owner of this.owners) owner.resume();
      },
      left: () => this.#leave(),
    });
    for (const text of this.#answers.splice(0)) stream.send(text);
    return stream;
  }

  #end(): void {
    if (this.#isArrayOpen) return this.#response.end("]");
    if (!this.accepts.json) this.#stream ??= this.#open();
    if (this.#stream) return this.#stream.end();
    if (this.#answers.length === 0) return this.accept();
    this.#response.answer(200, JSON_LINES, `[${this.#answers.join(",")}]`);
  }
}

/** One request's share of a batch. */
class BatchOutlet implements Outlet {
  readonly namesSession = false;
  readonly #batch: BatchResponse;
  #owner: OutletOwner | undefined;
  #isOver = false;

  constructor(batch: BatchResponse) {
    this.#batch = batch;
  }

  get canStream(): boolean {
    return this.#batch.accepts.sse;
  }

  get isKept(): boolean {
    return this.#batch.isStream;
  }

  opened(): void {}

  bind(owner: OutletOwner): void {
    this.#owner = owner;
    this.#batch.owners.push(owner);
  }

  #eventId(cursor: number): string | undefined {
    const run = this.#owner?.run;
    return run && cursor >= 0 ? `${run.id}.${cursor}` : undefined;
  }

  send(text: string, cursor: number): boolean {
    return this.#isOver || this.#batch.send(text, this.#eventId(cursor));
  }

  answer(text: string, cursor = -1): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#batch.answer(text, this.#eventId(cursor));
  }

  answerParts(head: string, body: Buffer, tail: string): void {
    this.answer(this.#batch.isOver ? "" : head + body.toString("latin1") + tail);
  }

  release(): boolean {
    return false;
  }

  drop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#batch.answer(undefined);
  }
}
