/** POST: one message, or on 2025-03-26 a batch of them. */
import {
  type BodyTaker,
  checkUtf8,
  decodeString,
  GatewayError,
  type HeldMessage,
  HOME_HEADER,
  type HopEnd,
  type HttpRequest,
  type HttpResponse,
  type Member,
} from "../../../contract/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import { isBatch, type Message, MessageFault, skimMessage } from "../../../wire/jsonrpc/index.ts";
import { ASSUMED_REVISION, revisionOf } from "../../../wire/mcp/index.ts";
import { ephemeralSession } from "../ephemeral.ts";
import { initialize } from "../initialize.ts";
import { errorAnswer } from "../mcp-errors.ts";
import { hasEnvelope, isModernVersion } from "../modern/envelope-check.ts";
import { ModernHttpOutlet } from "../modern/modern-http.ts";
import { handleModern } from "../modern/requests.ts";
import { seekRound } from "../modern/seek-round.ts";
import { takeAnswer, takeNotification } from "../notifications.ts";
import type { Posted } from "../posted.ts";
import { handleRequest } from "../requests.ts";
import { type Accepts, acceptsOf } from "./accept.ts";
import { handleBatch } from "./batch.ts";
import { isHarmless, judgeBatch } from "./harmless.ts";
import type { HttpContext } from "./http-context.ts";
import { HttpOutlet } from "./http-outlet.ts";
import { sendOn } from "./leaving.ts";
import { type Refusal, refuse } from "./refuse.ts";
import { type Errand, MOST_PASSED, seek } from "./seek.ts";
import { NO_SUCH_SESSION, SESSION_NEEDED, versionRefusal } from "./session-refusals.ts";
import { tellLost } from "./tell-lost.ts";

export function handlePost(http: HttpContext, request: HttpRequest, response: HttpResponse, catalog: string): void {
  const { front } = http;
  const accepts = acceptsOf(request.headers.accept);
  const refusal = refuseHeaders(request, accepts);
  if (refusal) {
    request.discard();
    return refuse(front, { request, response }, refusal);
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
class Post implements BodyTaker, Posted {
  readonly #http: HttpContext;
  readonly #request: HttpRequest;
  readonly #response: HttpResponse;
  readonly #catalog: string;
  readonly #accepts: Accepts;
  #text = "";

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

  get headers(): HttpRequest["headers"] {
    return this.#request.headers;
  }

  get address(): string | undefined {
    return this.#http.front.config.namesAddresses === true ? this.#request.clientAddress : undefined;
  }

  get held(): HeldMessage | undefined {
    return this.#request.held;
  }

  forgetBody(): void {
    this.#request.forgetBody?.();
  }

  handOver(home: Member): Promise<HopEnd> | undefined {
    const hop = this.#http.front.cluster?.hop;
    if (!hop || home.address === "" || hop.passed(this.#request) >= MOST_PASSED) return undefined;
    return hop.forward(this.#request, this.#text, this.#response, home);
  }

  onBody(text: string): void {
    this.#text = text;
    try {
      checkUtf8(text);
      if (isBatch(text)) this.#batch(text);
      else this.#take(skimMessage(text), text);
    } catch (error) {
      this.#refuse(faultRefusal(error));
    }
  }

  #take(message: Message, text: string): void {
    if (this.#http.isLeaving && !this.#staysHere(message)) this.#sendOn(message, text);
    else this.#one(message, text);
  }

  /** While this process leaves: whatever belongs to a call that runs here. */
  #staysHere({ kind, method, members }: Message): boolean {
    if (method.startsWith("tasks/") || members?.has("requestState")) return true;
    const session = this.#known;
    return session !== undefined && (kind !== "request" || session.hasRunning);
  }

  #sendOn(message: Message, body: string): void {
    const [request, response, session] = [this.#request, this.#response, this.#known];
    const id = message.id || "null";
    sendOn(this.#http.front, { request, response, body, id, session, unknown: () => this.#unknown(message) });
  }

  /** The session that the headers name, where it is here. */
  get #known(): Session | undefined {
    const { front } = this.#http;
    const header = this.#request.headers["mcp-session-id"];
    const session = header === undefined ? undefined : front.sessions.find(header, this.#request.principal);
    return session?.catalog === this.#catalog ? session : undefined;
  }

  #one(message: Message, text: string): void {
    if (this.#takeModern(message, text)) return;
    if (this.#refuseVersion(message.id || "null")) return;
    if (message.kind === "request" && message.method === "initialize") return this.#initialize(message);
    const id = message.id || "null";
    const session = this.#session(id);
    if (session) return this.#serve(session, message);
    if (session === undefined) return;
    if (this.#isAboutTaskHere(message)) return this.#serve(this.#ephemeral(), message);
    this.#seek(text, {
      id,
      isHarmless: isHarmless(message),
      serve: (found) => this.#serve(found, message),
      unknown: () => this.#unknown(message),
    });
  }

  /** The home of the session sent it here, where the task runs. */
  #isAboutTaskHere({ method, members }: Message): boolean {
    const { front } = this.#http;
    if (!method.startsWith("tasks/") || !front.cluster?.hop?.passed(this.#request)) return false;
    return front.tasks.find(decodeString(members?.textOf("taskId")) ?? "", this.#request.principal) !== undefined;
  }

  #serve(session: Session, message: Message): void {
    if (message.kind === "request") {
      const primes = revisionOf(session.protocol)?.primesStreams === true;
      const outlet = new HttpOutlet(this.#http, this.#response, this.#accepts, primes);
      if (this.#http.front.stepUp) outlet.stepUp = (error) => this.#stepUp(error);
      const { traceparent } = this.#request.headers;
      const { address } = this;
      const exchange = { session, principal: this.#request.principal, message, outlet, posted: this };
      const named = address === undefined ? exchange : { ...exchange, address };
      return handleRequest(this.#http.front, traceparent === undefined ? named : { ...named, traceparent });
    }
    const { principal } = this.#request;
    if (message.kind === "response") {
      const refusal = takeAnswer(this.#http.front, { session, principal, message });
      if (refusal) return this.#refuse(answerRefused(refusal));
    } else takeNotification(this.#http.front, { session, principal, message, address: this.address });
    accepted(this.#response);
  }

  /** It is not known here: another process may have the session, or leave it to us. */
  #seek(body: string, errand: Pick<Errand, "id" | "isHarmless" | "serve" | "unknown">): void {
    const sessionId = this.#request.headers["mcp-session-id"] ?? "";
    const [request, response, catalog] = [this.#request, this.#response, this.#catalog];
    seek(this.#http.front, { ...errand, request, response, body, sessionId, catalog });
  }

  /** The process that was to make the call is gone, and may have made it. */
  #unknown(message: Message): void {
    tellLost(this.#http.front, this.#request, message);
    const outlet = new HttpOutlet(this.#http, this.#response, this.#accepts, false);
    outlet.answer(errorAnswer(message.id, message.method, new GatewayError("OUTCOME_UNKNOWN"), ""));
  }

  /** Each message says itself of which era it is: in its body, or, where that says nothing, in the header. */
  #takeModern(message: Message, text: string): boolean {
    const isNamed = isModernVersion(this.#request.headers["mcp-protocol-version"]);
    if (!isNamed && (message.kind === "response" || !hasEnvelope(message))) return false;
    if (message.kind === "response")
      throw new MessageFault(-32600, "Answers are not posted in this revision", message.id);
    if (message.kind === "request") this.#modern(message, text);
    else accepted(this.#response);
    return true;
  }

  #modern(message: Message, body: string): void {
    const { front, modern, modernAnswers: lateAnswers } = this.#http;
    const [request, response, catalog] = [this.#request, this.#response, this.#catalog];
    if (front.cluster?.hop && seekRound(modern, { request, response, catalog, message, body })) return;
    const stepUp = (error: GatewayError) => this.#stepUp(error);
    const outlet = new ModernHttpOutlet({ front, lateAnswers, response, accepts: this.#accepts, stepUp });
    const { headers, principal } = this.#request;
    const isPeer = this.#isPeer;
    handleModern(modern, { message, catalog: this.#catalog, principal, isPeer, headers, outlet, posted: this });
  }

  #stepUp(error: GatewayError): string {
    return this.#http.front.stepUp?.(this.#request, error) ?? "";
  }

  /** A session id that comes along is not looked at: whoever initializes wants a new session. */
  #initialize(message: Message): void {
    const { front } = this.#http;
    const outlet = new HttpOutlet(this.#http, this.#response, this.#accepts, false);
    const opener = { principal: this.#request.principal, catalog: this.#catalog, isPeer: this.#isPeer };
    initialize(front, opener, message, outlet).catch((cause) => {
      front.log.error("initialize failed inside the gateway", { cause });
      this.#refuse({ status: 500, reason: "internal", code: -32603, message: "The gateway failed.", id: message.id });
    });
  }

  /** Another process wants a server that is at home here. What it hands over for clients does not bear that header. */
  get #isPeer(): boolean {
    if (this.#request.headers[HOME_HEADER] === undefined) return false;
    return (this.#http.front.cluster?.hop?.passed(this.#request) ?? 0) > 0;
  }

  #batch(text: string): void {
    if (isModernVersion(this.#request.headers["mcp-protocol-version"])) {
      throw new MessageFault(-32600, "There are no batches in this revision");
    }
    if (this.#refuseVersion("null")) return;
    const session = this.#session("null");
    if (session) return this.#serveBatch(session, text);
    if (session === undefined) return;
    const { requests, harmless, unknown } = judgeBatch(text);
    this.#seek(text, {
      id: "null",
      isHarmless: harmless,
      serve: (found) => this.#orRefuse(() => this.#serveBatch(found, text)),
      unknown: () => {
        for (const one of requests) tellLost(this.#http.front, this.#request, one);
        this.#response.answer(200, JSON_LINE, unknown());
      },
    });
  }

  #serveBatch(session: Session, text: string): void {
    if (session.isEphemeral || revisionOf(session.protocol)?.hasBatches !== true) {
      throw new MessageFault(-32600, "Batches exist only in sessions of protocol version 2025-03-26");
    }
    const { address } = this;
    const { principal } = this.#request;
    const { held } = this;
    handleBatch(this.#http, {
      session,
      principal,
      response: this.#response,
      accepts: this.#accepts,
      text,
      address,
      held,
    });
  }

  #orRefuse(serve: () => void): void {
    try {
      serve();
    } catch (error) {
      this.#refuse(faultRefusal(error));
    }
  }

  #refuseVersion(id: string): boolean {
    const refusal = versionRefusal(this.#request);
    if (refusal) this.#refuse({ ...refusal, id });
    return refusal !== undefined;
  }

  /** The session the message belongs to. Undefined: it was refused. Null: perhaps another process has it. */
  #session(id: string): Session | undefined | null {
    const { front } = this.#http;
    const header = this.#request.headers["mcp-session-id"];
    if (header !== undefined) {
      const session = front.sessions.find(header, this.#request.principal);
      if (session && session.catalog === this.#catalog) return session;
      if (!session && front.sessions.isShared) return null;
      this.#refuse({ ...NO_SUCH_SESSION, id });
      return undefined;
    }
    if (front.config.sessions === "auto") return this.#ephemeral();
    this.#refuse({ ...SESSION_NEEDED, id });
    return undefined;
  }

  #ephemeral(): Session {
    const version = this.#request.headers["mcp-protocol-version"] ?? ASSUMED_REVISION.version;
    return ephemeralSession(this.#http.front, this.#request.principal, this.#catalog, version);
  }

  #refuse(refusal: Refusal): void {
    refuse(this.#http.front, { request: this.#request, response: this.#response }, refusal);
  }
}

function answerRefused({ code, message }: GatewayError): Refusal {
  const text = `The answer is not taken: ${message}`;
  return { status: 403, reason: "answer", code: -32000, message: text, data: { code } };
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

const JSON_LINE = "Content-Type: application/json\r\n";

function accepted(response: HttpResponse): void {
  response.answer(202, "", "");
}
