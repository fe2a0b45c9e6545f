/** What goes wrong, as `application/problem+json` (RFC 9457). */
import {
  type ErrorCode,
  GatewayError,
  type HttpResponse,
  headerLine,
  type SchemaProblem,
  textOf,
} from "../../contract/index.ts";
import { HTTP_STATUS, TITLES } from "./http-status.ts";

/** In a body of several lines, from 1. */
export type Place = { readonly line: number; readonly column: number };

/** A refusal that is a matter of HTTP, or of the form of what was sent. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly code: ErrorCode;
  /** Further header lines. */
  readonly lines: string;
  readonly problems: readonly SchemaProblem[];
  readonly place: Place | undefined;
  /** For the record, and never a caller's text. */
  readonly reason: string;

  constructor(
    status: number,
    detail: string,
    more: { lines?: string; problems?: readonly SchemaProblem[]; place?: Place; reason?: string } = {},
  ) {
    super(detail);
    this.status = status;
    this.code = status === 404 ? "NO_SUCH_TARGET" : status === 403 ? "NOT_ALLOWED" : "BAD_CALL";
    this.lines = more.lines ?? "";
    this.problems = more.problems ?? [];
    this.place = more.place;
    this.reason = more.reason ?? "form";
  }
}

export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The path that was asked for. */
  readonly instance: string;
  readonly code: ErrorCode;
  /** What is wrong where. */
  readonly problems?: readonly SchemaProblem[];
  readonly retryAfterMs?: number;
} & Partial<Place>;

/** The failure as others may see it: whatever is no GatewayError says nothing of its cause. */
export function problemOf(thrown: unknown, instance: string, hasCondition = false): Problem {
  if (thrown instanceof Refusal) {
    const { status, code, message, problems, place } = thrown;
    return withTitle({ status, code, detail: message, instance, ...(problems.length > 0 && { problems }), ...place });
  }
  const { code, message, details } = GatewayError.from(thrown);
  const retryAfterMs = details.retryAfterMs ?? details.retryMs;
  return withTitle({
    status: code === "CONFLICT" ? conflictStatus(details, hasCondition) : HTTP_STATUS[code],
    code,
    detail: message,
    instance,
    ...(Array.isArray(details.problems) && { problems: details.problems as SchemaProblem[] }),
    ...(typeof retryAfterMs === "number" && { retryAfterMs }),
  });
}

/** What was asked for under a condition, and does not meet it, is another answer than what clashes by itself. */
function conflictStatus({ missing }: Readonly<Record<string, unknown>>, hasCondition: boolean): number {
  if (missing === "If-Match") return 428;
  return hasCondition ? 412 : HTTP_STATUS.CONFLICT;
}

function withTitle(problem: Omit<Problem, "type" | "title">): Problem {
  const type = `urn:isthmus:error:${problem.code}`;
  return { type, title: TITLES[problem.status] ?? "Error", ...problem };
}

export function answerProblem(response: HttpResponse, problem: Problem, lines = ""): void {
  const { status, retryAfterMs } = problem;
  const retry =
    retryAfterMs === undefined ? "" : headerLine("Retry-After", String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  const own = "Content-Type: application/problem+json\r\nCache-Control: no-store\r\n";
  response.answer(status, `${lines}${retry}${own}`, textOf(JSON.stringify(problem)));
}
