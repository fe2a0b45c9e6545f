/** What the API answers before its front is asked, and where that fails: problem documents, as the front's own are. */
import { type ErrorCode, type HttpRequest, type HttpResponse, headerLine, textOf } from "../contract/index.ts";

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
