/** What the API answers before its front is asked, and where that fails: problem documents, as the front's own are. */
import {
  type ErrorCode,
  type HttpRequest,
  type HttpResponse,
  headerLine,
  ORIGIN_TEXTS,
  type OriginFault,
  textOf,
} from "../contract/index.ts";
import { routeOf } from "./route.ts";

export function isAdmin({ url }: HttpRequest): boolean {
  return url.startsWith("/api/") || url.startsWith("/openapi.json");
}

export const FAILED = {
  status: 500,
  code: "INTERNAL",
  title: "Internal Server Error",
  detail: "The gateway failed; its log says why.",
} as const satisfies OwnProblem;

export const TOO_MANY = {
  status: 429,
  code: "LIMITED",
  title: "Too Many Requests",
  detail: "Too many requests; Retry-After says when to try again.",
} as const satisfies OwnProblem;

type OwnProblem = {
  readonly status: number;
  readonly code: ErrorCode;
  readonly title: string;
  readonly detail: string;
};

/** `lines`: further header lines. */
export function answerOwnProblem(response: HttpResponse, { code, ...problem }: OwnProblem, lines = ""): void {
  const body = { type: `urn:isthmus:error:${code}`, code, ...problem };
  const head = `${headerLine("Content-Type", "application/problem+json")}Cache-Control: no-store\r\n`;
  response.answer(problem.status, lines + head, textOf(JSON.stringify(body)));
}

/** In the form in which the part that this path is for says no. */
export function answerOriginFault(request: HttpRequest, response: HttpResponse, fault: OriginFault): void {
  const message = ORIGIN_TEXTS[fault];
  if (isAdmin(request))
    return answerOwnProblem(response, { status: 403, code: "NOT_ALLOWED", title: "Forbidden", detail: message });
  const isOfMcp = "catalog" in routeOf(request.url);
  const body = isOfMcp ? { jsonrpc: "2.0", id: null, error: { code: -32000, message } } : { error: message };
  const lines = `${headerLine("Content-Type", "application/json")}Cache-Control: no-store\r\n`;
  response.answer(403, lines, textOf(JSON.stringify(body)));
}
