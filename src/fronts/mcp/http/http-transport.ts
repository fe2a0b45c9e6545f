/** Streamable HTTP: one path, three methods. */
import { type HttpRequest, type HttpResponse, headerLine, ORIGIN_TEXTS } from "../../../contract/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import type { FrontContext } from "../front-context.ts";
import { isModernVersion } from "../modern/envelope-check.ts";
import type { ModernContext } from "../modern/modern-context.ts";
import { BatchTurns } from "./batch-turns.ts";
import { CallJournals } from "./call-journals.ts";
import { createGate } from "./gate.ts";
import { handleGet } from "./get.ts";
import type { HttpContext } from "./http-context.ts";
import { LateAnswers } from "./late-answers.ts";
import { sendOn } from "./leaving.ts";
import { handlePost } from "./post.ts";
import { type Refused, refuse } from "./refuse.ts";
import { seek } from "./seek.ts";
import { NO_SUCH_SESSION, SESSION_NEEDED, versionRefusal } from "./session-refusals.ts";
import { unavailable } from "./unavailable.ts";

export interface HttpTransport {
  handle(request: HttpRequest, response: HttpResponse, catalog: string): void;
  /** Takes nothing new from now on; what runs goes on. */
  leave(): void;
  close(): void;
}

/** How long a request of 2026-07-28 is waited for before its stream is opened, so that proxies see that it lives. */
const MODERN_PATIENCE_MS = 15_000;

export function createHttpTransport(front: FrontContext, modern: ModernContext): HttpTransport {
  const http: HttpContext = {
    front,
    modern,
    gate: createGate(front.config),
    batches: new BatchTurns(front.clock),
    lateAnswers: new LateAnswers(front.clock, front.timers),
    modernAnswers: new LateAnswers(front.clock, front.timers, MODERN_PATIENCE_MS),
    journals: front.cluster?.hop && new CallJournals(front.cluster.state),
    isLeaving: false,
  };
  return {
    handle(request, response, catalog) {
      if (refuseAtGate(http, request, response) || refuseCatalog(front, request, response, catalog)) return;
      if (request.method === "POST") return handlePost(http, request, response, catalog);
      request.discard();
      if (request.method === "GET" || request.method === "DELETE")
        return handleInSession(http, request, response, catalog);
      refuseMethod(http, { request, response }, "GET, POST, DELETE");
    },
    leave() {
      http.isLeaving = true;
    },
    close() {
      http.lateAnswers.close();
      http.modernAnswers.close();
    },
  };
}

export function refuseAtGate(
  http: Pick<HttpContext, "front" | "gate">,
  request: HttpRequest,
  response: HttpResponse,
): boolean {
  const wrong = http.gate(request);
  if (wrong === undefined) return false;
  request.discard();
  const message = ORIGIN_TEXTS[wrong];
  refuse(http.front, { request, response }, { status: 403, reason: wrong, code: -32000, message });
  return true;
}

export function refuseCatalog(
  front: FrontContext,
  request: HttpRequest,
  response: HttpResponse,
  catalog: string,
): boolean {
  if (front.catalog.has(catalog, request.principal)) return false;
  request.discard();
  const message = "There is no such catalog";
  refuse(front, { request, response }, { status: 404, reason: "catalog", code: -32000, message });
  return true;
}

function handleInSession(http: HttpContext, request: HttpRequest, response: HttpResponse, catalog: string): void {
  const { front } = http;
  if (isModernVersion(request.headers["mcp-protocol-version"]))
    return refuseMethod(http, { request, response }, "POST");
  const refusal = versionRefusal(request);
  if (refusal) return refuse(front, { request, response }, refusal);
  const id = request.headers["mcp-session-id"];
  if (id === undefined) {
    if (front.config.sessions === "auto") return refuseMethod(http, { request, response }, "POST");
    return refuse(front, { request, response }, SESSION_NEEDED);
  }
  const session = front.sessions.find(id, request.principal);
  if (session && session.catalog !== catalog) return refuse(front, { request, response }, NO_SUCH_SESSION);
  if (http.isLeaving && !staysHere(request, session)) {
    return sendOn(front, { request, response, body: "", id: "null", session, unknown: () => response.cut() });
  }
  if (session) return serveInSession(http, session, request, response);
  if (!front.sessions.isShared) return refuse(front, { request, response }, NO_SUCH_SESSION);
  seek(front, {
    request,
    response,
    body: "",
    sessionId: id,
    catalog,
    id: "null",
    isHarmless: true,
    serve: (found) => serveInSession(http, found, request, response),
    unknown: () => undefined,
  });
}

/** A stream may be the rest of a call that runs here; any other belongs elsewhere while this process leaves. */
function staysHere({ method }: HttpRequest, session: Session | undefined): boolean {
  return session !== undefined && (method === "DELETE" || session.hasRunning);
}

function serveInSession(http: HttpContext, session: Session, request: HttpRequest, response: HttpResponse): void {
  const { front } = http;
  if (request.method === "GET") return handleGet(http, session, request, response);
  front.sessions.finish(session, "the client ended the session").then(
    () => response.answer(200, "", ""),
    (error) => refuse(front, { request, response }, unavailable(error)),
  );
}

function refuseMethod(http: HttpContext, refused: Refused, allow: string): void {
  const message = `Method not allowed; use ${allow}`;
  refuse(http.front, refused, {
    status: 405,
    reason: "method",
    code: -32000,
    message,
    lines: headerLine("Allow", allow),
  });
}
