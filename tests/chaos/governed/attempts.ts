/** Every `tools/call` that a client sends, each with a trace of its own, so that the audit trail can be held against it. */
import { randomBytes } from "node:crypto";
import { eventsIn } from "../clients/sse-text.ts";

export type Attempt = {
  /** As the trail writes it. */
  readonly trace: string;
  readonly mark: string;
  readonly tool: string;
  readonly sentAt: number;
  /** When the answer was whole. */
  endedAt: number;
  /** "ok", "task", one of our codes, the number of an error; "" while nobody has answered. */
  code: string;
  /** A call was made of it: it must be on the trail. */
  isCall: boolean;
};

type Answer = {
  readonly id?: unknown;
  readonly result?: {
    readonly resultType?: string;
    readonly task?: object;
    readonly _meta?: Readonly<Record<string, ErrorFacts | undefined>>;
  };
  readonly error?: { readonly code: number; readonly data?: ErrorFacts };
};
type ErrorFacts = { readonly code?: string; readonly callId?: string };
type Sent = {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: { readonly mark?: string } };
};

export class Attempts {
  readonly all: Attempt[] = [];

  /** Undefined for what is no call. `header`: what the request must carry. */
  begin(body: string | undefined): { header: Record<string, string>; attempt: Attempt; id: unknown } | undefined {
    if (!body?.includes('"tools/call"')) return undefined;
    const { id, params } = JSON.parse(body) as Sent;
    const trace = randomBytes(16).toString("hex");
    const attempt = {
      trace: trace.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
      mark: params?.arguments?.mark ?? "",
      tool: params?.name ?? "",
      sentAt: Date.now(),
      endedAt: 0,
      code: "",
      isCall: false,
    };
    this.all.push(attempt);
    return { header: { traceparent: `00-${trace}-${randomBytes(8).toString("hex")}-01` }, attempt, id };
  }
}

/** What the client has heard of it; the answer may be the last event of a stream. */
export function endAttempt(attempt: Attempt, id: unknown, text: string): void {
  const messages = text.startsWith("{") ? [text] : eventsIn(text).map(({ data }) => data);
  const answer = messages
    .map(parse)
    .find((message) => message?.id === id && (message?.result !== undefined || message?.error !== undefined));
  if (!answer) return;
  const facts = answer.result?._meta?.["dev.isthmus/error"] ?? answer.error?.data;
  const isTask = answer.result?.resultType === "task" || answer.result?.task !== undefined;
  attempt.code = facts?.code ?? (answer.error ? String(answer.error.code) : isTask ? "task" : "ok");
  attempt.isCall = attempt.code === "ok" || attempt.code === "OUTCOME_UNKNOWN" || Boolean(facts?.callId);
  attempt.endedAt = Date.now();
}

function parse(text: string): Answer | undefined {
  try {
    return JSON.parse(text) as Answer;
  } catch {
    return undefined;
  }
}
