/** What calls do, as it happens, for whoever listens to this process: two events for each. Nothing is made while nobody does. */
import { type Call, decodeString, type EventFeed, type FeedEvent, identityOf } from "../../contract/index.ts";
import { nameOf } from "./call-lines.ts";
import { type CallOutcome, feedOutcome } from "./call-outcome.ts";

export class LiveCallFeed implements EventFeed {
  readonly #listeners = new Set<(event: FeedEvent) => void>();
  readonly #onWatched: () => void;

  /** `onWatched`: somebody listens now, or nobody does any more. */
  constructor(onWatched: () => void = () => undefined) {
    this.#onWatched = onWatched;
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  listen(hear: (event: FeedEvent) => void): () => void {
    const own = (event: FeedEvent) => hear(event);
    this.#listeners.add(own);
    if (this.#listeners.size === 1) this.#onWatched();
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#onWatched();
    };
  }

  started(call: Call, at: number): void {
    this.#tell("call.start", common(call, at));
  }

  finished(call: Call, at: number, traceId: string, outcome: CallOutcome): void {
    const { code, durationMs, bytesOut, limit, isCached, exception, isTask } = outcome;
    const { requestId } = call.origin;
    this.#tell("call.finish", {
      ...common(call, at),
      latency: Math.round(durationMs),
      outcome: feedOutcome(code),
      bytes_in: call.input.text.length,
      bytes_out: bytesOut,
      "rateLimit.hit": limit ?? false,
      "cache.hit": isCached,
      reason: code === "ok" ? null : code,
      exception: exception ?? null,
      request_id: decodeString(requestId) ?? requestId,
      task_id: isTask ? call.id : null,
      trace_id: traceId,
    });
  }

  #tell(type: string, event: Readonly<Record<string, unknown>> & { readonly tenant: string }): void {
    const told = { type, tenant: event.tenant, json: JSON.stringify({ event: type, ...event }) };
    for (const hear of this.#listeners) hear(told);
  }
}

function common(call: Call, at: number) {
  const { tenant, user, client } = identityOf(call.principal);
  return {
    at: new Date(at).toISOString(),
    tenant,
    user,
    wcit: client,
    primitive: nameOf(call.target),
    server: call.target.provider,
    protocol: call.origin.front,
  };
}
