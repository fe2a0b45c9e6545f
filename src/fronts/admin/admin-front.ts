/** What people and programs do to the gateway itself, over HTTP. It knows operations and nothing of what they do. */
import {
  GatewayError,
  type HttpRequest,
  type HttpResponse,
  type Log,
  type Meter,
  type NoteRefusal,
  type Operation,
  type OperationAnswer,
  ORIGIN_TEXTS,
  type OriginFault,
  type Principal,
  type Timers,
  tenantOf,
  textOf,
} from "../../contract/index.ts";
import { plainPath } from "../../mechanisms/audit/index.ts";
import { accepts } from "./accepts.ts";
import { isKnown, readIfMatch, refuseIfNoneMatch, tagOf } from "./conditions.ts";
import { createEventStreams } from "./event-answer.ts";
import { checkRole } from "./may-run.ts";
import { describeApi } from "./openapi.ts";
import { answerProblem, problemOf, Refusal } from "./problem.ts";
import { readInput } from "./read-input.ts";
import { type RoutedOperation, RouteTable } from "./route-table.ts";

export type AdminFrontOptions = {
  readonly operations: readonly Operation[];
  readonly version: string;
  readonly maxBody: () => number;
  /** Says what is wrong with a request, or nothing. */
  readonly gate: (request: HttpRequest) => OriginFault | undefined;
  /** Hears of whoever tries what is not theirs. */
  readonly refused?: NoteRefusal;
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
};

export interface AdminFront {
  /** For `/api/…` and `/openapi.json`. The response is always ended, sooner or later. */
  handle(request: HttpRequest, response: HttpResponse): void;
  /** Whether this request may be made by somebody who is not known. */
  isOpen(request: HttpRequest): boolean;
  /** Says no to a request that comes from nobody who may make one. `lines`: further header lines. */
  refuse(request: HttpRequest, response: HttpResponse, error: unknown, lines: string): void;
  /** Ends the streams of these callers. */
  drop(isMeant: (principal: Principal) => boolean): void;
  /** Ends the streams. Safe to call twice. */
  close(): void;
}

/** However large calls may be: nothing here is. */
const MAX_BODY = 1024 * 1024;
/** Of whoever is not known: what proves itself is short. */
const MAX_OPEN_BODY = 16 * 1024;
const DESCRIPTIONS: ReadonlySet<string> = new Set(["/openapi.json", "/api/openapi.json"]);

export function createAdminFront(options: AdminFrontOptions): AdminFront {
  const routes = new RouteTable(options.operations);
  const streams = createEventStreams(options.timers);
  let description: string | undefined;

  const noteRefused = (request: HttpRequest, reason: string) => {
    const { principal, clientAddress: address, method } = request;
    const path = pathOf(request);
    options.refused?.({ reason, principal, address, path, name: `${method} ${plainPath(path)}` });
  };

  const fail = (request: HttpRequest, response: HttpResponse, thrown: unknown) => {
    const problem = problemOf(thrown, pathOf(request), request.headers["if-match"] !== undefined);
    if (problem.status === 500) {
      const { cause } = GatewayError.from(thrown);
      options.log.error("operation failed", { path: plainPath(problem.instance), cause: cause ?? thrown });
    }
    if (problem.status === 403) noteRefused(request, thrown instanceof Refusal ? thrown.reason : "not allowed");
    if (isGuess(thrown, request.principal)) noteRefused(request, "target");
    options.meter.count("isthmus_api_requests_total", String(problem.status));
    answerProblem(response, problem, thrown instanceof Refusal ? thrown.lines : "");
  };

  const run = async (routed: RoutedOperation, request: HttpRequest, response: HttpResponse, text: string) => {
    const { operation } = routed;
    if (operation.method !== "GET") refuseIfNoneMatch(request);
    const ifMatch = readIfMatch(request);
    const input = (await readInput(routed, request, text)) as never;
    const context = { principal: request.principal, ...(ifMatch !== undefined && { ifMatch }) };
    const answer = await operation.run(input, context);
    if (answer.events && request.method !== "HEAD") streams.serve(response, answer.events, request.principal);
    else answerWith(request, response, answer);
    options.meter.count("isthmus_api_requests_total", String(answer.status ?? 200));
  };

  const start = (routed: RoutedOperation, request: HttpRequest, response: HttpResponse) => {
    const maxBytes = Math.min(options.maxBody(), routed.operation.role === "anyone" ? MAX_OPEN_BODY : MAX_BODY);
    request.body(maxBytes, {
      onBody: (text) => void run(routed, request, response, text).catch((error) => fail(request, response, error)),
      onTooLarge: () => fail(request, response, new Refusal(413, `The body is larger than ${maxBytes} bytes.`)),
    });
  };

  return {
    handle(request, response) {
      try {
        const wrong = options.gate(request);
        if (wrong !== undefined) throw new Refusal(403, ORIGIN_TEXTS[wrong], { reason: wrong });
        const path = pathOf(request);
        if (DESCRIPTIONS.has(path)) {
          refuseOther(request.method, ["GET", "HEAD"]);
          request.discard();
          description ??= JSON.stringify(describeApi(options.operations, options.version));
          answerText(request, response, { status: 200, text: description });
          return;
        }
        const routed = routes.find(request.method, path);
        if (!routed) throw new Refusal(404, "There is nothing here; /openapi.json says what there is.");
        if ("allow" in routed) {
          refuseOther(request.method, routed.allow);
          return;
        }
        checkRole(routed.operation, request.principal, routed.parameters.orgId);
        if (!accepts(request.headers.accept, isStream(routed.operation))) {
          throw new Refusal(
            406,
            `This answers as ${isStream(routed.operation) ? "text/event-stream" : "application/json"}.`,
          );
        }
        start(routed, request, response);
      } catch (error) {
        request.discard();
        fail(request, response, error);
      }
    },
    isOpen(request) {
      const routed = routes.find(request.method, pathOf(request));
      return routed !== undefined && "operation" in routed && routed.operation.role === "anyone";
    },
    refuse: (request, response, error, lines) => answerProblem(response, problemOf(error, request.url), lines),
    drop: (isMeant) => streams.drop(isMeant),
    close: () => streams.close(),
  };
}

/**
 * To the people of a tenant what is another's is not there. Both are noted, and alike: their own trail must not tell them which of
 * their guesses are right.
 */
function isGuess(thrown: unknown, principal: Principal): boolean {
  return GatewayError.is(thrown) && thrown.code === "NO_SUCH_TARGET" && tenantOf(principal) !== undefined;
}

/** Throws unless the method is one of them. */
function refuseOther(method: string, allow: readonly string[]): void {
  if (allow.includes(method)) return;
  throw new Refusal(405, `This takes ${allow.join(", ")}.`, { lines: `Allow: ${allow.join(", ")}\r\n` });
}

function isStream({ isStream }: Operation): boolean {
  return isStream === true;
}

function answerWith(request: HttpRequest, response: HttpResponse, answer: OperationAnswer<unknown>): void {
  if (answer.body === undefined) {
    response.answer(answer.status ?? 204, answer.etag === undefined ? "" : `ETag: ${tagOf(answer.etag, "")}\r\n`, "");
    return;
  }
  answerText(request, response, {
    status: answer.status ?? 200,
    text: JSON.stringify(answer.body),
    ...(answer.etag !== undefined && { version: answer.etag }),
  });
}

type TextAnswer = { readonly status: number; readonly text: string; readonly version?: string };

function answerText(request: HttpRequest, response: HttpResponse, { status, text, version }: TextAnswer): void {
  const isRead = request.method === "GET" || request.method === "HEAD";
  const tag = isRead || version !== undefined ? tagOf(version, text) : undefined;
  const lines = `${tag === undefined ? "" : `ETag: ${tag}\r\n`}Cache-Control: no-store\r\n`;
  if (isRead && tag !== undefined && isKnown(request, tag)) response.answer(304, lines, "");
  else response.answer(status, `${lines}Content-Type: application/json\r\n`, textOf(text));
}

function pathOf({ url }: HttpRequest): string {
  const query = url.indexOf("?");
  return query < 0 ? url : url.slice(0, query);
}
