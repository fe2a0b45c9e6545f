/** POST: one message, or on 2025-03-26 a batch of them. */
import { type BodyTaker, checkUtf8, type HttpRequest, type HttpResponse } from "../../../contract/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import { isBatch, type Message, MessageFault, skimMessage } from "../../../wire/jsonrpc/index.ts";
import { ASSUMED_REVISION, revisionOf } from "../../../wire/mcp/index.ts";
import { ephemeralSession } from "../ephemeral.ts";
import { initialize } from "../initialize.ts";
import { hasEnvelope, isModernVersion } from "../modern/envelope-check.ts";
import { ModernHttpOutlet } from "../modern/modern-http.ts";
import { handleModern } from "../modern/requests.ts";
import { takeAnswer, takeNotification } from "../notifications.ts";
import { handleRequest } from "../requests.ts";
import { type Accepts, acceptsOf } from "./accept.ts";
import { handleBatch } from "./batch.ts";
import type { HttpContext } from "./http-context.ts";
import { HttpOutlet } from "./http-outlet.ts";
import { type Refusal, refuse } from "./refuse.ts";
import { NO_SUCH_SESSION, SESSION_NEEDED, versionRefusal } from "./session-refusals.ts";

export function handlePost(http: HttpContext, request: HttpRequest, response: HttpResponse, catalog: string): void {
  const { front } = http;
  const accepts = acceptsOf(request.headers.accept);
  const refusal = refuseHeaders(request, accepts);
  if (refusal) {
    request.discard();
    return refuse(front.meter, response, refusal);
  }
  request.body(front.config.maxBody, new Post(http, request, response, catalog, accepts));
}

function refuseHeaders(request: HttpRequest, accepts: Accepts): Refusal | undefined {
  const type = request.headers["content-type"] ?? "";
  if (type !== "application/json" && type.split(";", 1)[0]?.trim().toLowerCase() !== "application/json") {
    return { status: 415, reason: "content type", code: -32000, message: "Content-Type must be application/json" };
  }
  if (!accepts.json && !accepts.sse) {
    const message = "Accept must name application/json, text/event-stream, or both";
    return { status: 406, reason: "accept", code: -32000, message };
  }
  return undefined;
}

function tooLarge(maxBody: number): Refusal {
  const message = `The body is larger than ${maxBody} bytes`;
  return { status: 413, reason: "body size", code: -32600, message };
}

/** One POST whose headers are fine. */
class Post implements BodyTaker {
  readonly #http: HttpContext;
  readonly #request: HttpRequest;
  readonly #response: HttpResponse;
  readonly #catalog: string;
  readonly #accepts: Accepts;

  constructor(http: HttpContext, request: HttpRequest, response: HttpResponse, catalog: string, accepts: Accepts) {
    this.#http = http;
    this.#request = request;
    this.#response = response;
    this.#catalog = catalog;
    this.#accepts = accepts;
  }

  onTooLarge(): void {
    this.#refuse(tooLarge(this.#http.front.config.maxBody));
  }

  onBody(text: string): void {
    try {
      checkUtf8(text);
      if (isBatch(text)) this.#batch(text);
      else this.#one(skimMessage(text));
    } catch (error) {
      this.#refuse(faultRefusal(error));
    }
  }

  #one(message: Message): void {
    if (this.#takeModern(message)) return;
    if (this.#refuseVersion(message.id || "null")) return;
    if (message.kind === "request" && message.method === "initialize") return this.#initialize(message);
    const session = this.#session(message.id || "null");
    if (!session) return;
    if (message.kind === "request") {
      const primes = revisionOf(session.protocol)?.primesStreams === true;
      const outlet = new HttpOutlet(this.#http, this.#response, this.#accepts, primes);
      const { traceparent } = this.#request.headers;
      const exchange = { session, message, outlet };
      return handleRequest(this.#http.front, traceparent === undefined ? exchange : { ...exchange, traceparent });
    }
    if (message.kind === "response") takeAnswer(this.#http.front, session, message);
    else takeNotification(this.#http.front, session, message);
    accepted(this.#response);
  }

  /** Each message says itself of which era it is: in its body, or, where that says nothing, in the header. */
  #takeModern(message: Message): boolean {
    const isNamed = isModernVersion(this.#request.headers["mcp-protocol-version"]);
    if (!isNamed && (message.kind === "response" || !hasEnvelope(message))) return false;
    if (message.kind === "response")
      throw new MessageFault(-32600, "Answers are not posted in this revision", message.id);
    if (message.kind === "request") this.#modern(message);
    else accepted(this.#response);
    return true;
  }

  #modern(message: Message): void {
    const { front, modern, modernAnswers: lateAnswers } = this.#http;
    const outlet = new ModernHttpOutlet({ front, lateAnswers, response: this.#response, accepts: this.#accepts });
    handleModern(modern, { message, catalog: this.#catalog, headers: this.#request.headers, outlet });
  }

  /** A session id that comes along is not looked at: whoever initializes wants a new session. */
  #initialize(message: Message): void {
    const { front } = this.#http;
    const outlet = new HttpOutlet(this.#http, this.#response, this.#accepts, false);
    initialize(front, this.#catalog, message, outlet).catch((cause) => {
      front.log.error("initialize failed inside the gateway", { cause });
      this.#refuse({ status: 500, reason: "internal", code: -32603, message: "The gateway failed.", id: message.id });
    });
  }

  #batch(text: string): void {
    if (isModernVersion(this.#request.headers["mcp-protocol-version"])) {
      throw new MessageFault(-32600, "There are no batches in this revision");
    }
    if (this.#refuseVersion("null")) return;
    const session = this.#session("null");
    if (!session) return;
    if (session.isEphemeral || revisionOf(session.protocol)?.hasBatches !== true) {
      throw new MessageFault(-32600, "Batches exist only in sessions of protocol version 2025-03-26");
    }
    handleBatch(this.#http, { session, response: this.#response, accepts: this.#accepts, text });
  }

  #refuseVersion(id: string): boolean {
    const refusal = versionRefusal(this.#request);
    if (refusal) this.#refuse({ ...refusal, id });
    return refusal !== undefined;
  }

  /** The session the message belongs to; undefined when it was refused. */
  #session(id: string): Session | undefined {
    const { front } = this.#http;
    const header = this.#request.headers["mcp-session-id"];
    if (header !== undefined) {
      const session = front.sessions.find(header, front.principal);
      if (session && session.catalog === this.#catalog) return session;
      this.#refuse({ ...NO_SUCH_SESSION, id });
      return undefined;
    }
    if (front.config.sessions === "auto") {
      const version = this.#request.headers["mcp-protocol-version"];
      return ephemeralSession(front, this.#catalog, version ?? ASSUMED_REVISION.version);
    }
    this.#refuse({ ...SESSION_NEEDED, id });
    return undefined;
  }

  #refuse(refusal: Refusal): void {
    refuse(this.#http.front.meter, this.#response, refusal);
  }
}

function faultRefusal(error: unknown): Refusal {
  if (error instanceof MessageFault) {
    return {
      status: 400,
      reason: error.code === -32700 ? "parse" : "message",
      code: error.code,
      message: error.message,
      id: error.id,
    };
  }
  if ((error as Error).name === "JsonFault")
    return { status: 400, reason: "parse", code: -32700, message: (error as Error).message };
  throw error;
}

function accepted(response: HttpResponse): void {
  response.answer(202, "", "");
}
