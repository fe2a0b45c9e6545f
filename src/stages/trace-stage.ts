import {
  type Call,
  type CallEvent,
  type Clock,
  callError,
  type Log,
  type LogFields,
  type Out,
  type Stage,
  shownText,
  type Verb,
} from "../contract/index.ts";
import { plainTarget } from "../mechanisms/audit/index.ts";
import { failureOf } from "./failure-of.ts";
import type { FinishedCall, RecentCalls } from "./recent-calls.ts";

export type TraceOptions = {
  readonly clock: Clock;
  readonly log: Log;
  readonly recent: RecentCalls;
  /** Counts calls, and measures how long they take, and where. */
  readonly times?: { finished(call: FinishedCall): void } | undefined;
};

/** Writes the one log line of a call when it has finished, has it counted, and keeps how it went for a while. */
export function traceStage(options: TraceOptions): Stage {
  const { clock, log, recent, times } = options;
  return async function trace(call, out, next) {
    const start = clock.now();
    const { address } = call.origin;
    const traced = address === undefined ? new TracedCall(call, out) : new AddressedCall(call, out, address);
    try {
      await next(call, traced);
    } catch (error) {
      traced.code = callError(error).code;
      throw error;
    } finally {
      const endedAt = clock.now();
      traced.durationMs = Math.round((endedAt - start) * 10) / 10;
      const finished = { call, code: traced.code, startedAt: start, endedAt };
      recent.add(finished);
      times?.finished(finished);
      log.info("call finished", traced as unknown as LogFields);
    }
  };
}

/**
 * Watches a call's events for its outcome. Its public fields are, in this order, those of the log line: one object per
 * call serves both, because this runs on every call.
 */
class TracedCall implements Out {
  readonly callId: string;
  readonly target: string;
  readonly principal: string;
  readonly front: string;
  code = "ok";
  durationMs = 0;
  readonly #out: Out;
  readonly #verb: Verb;

  constructor(call: Call, out: Out) {
    this.callId = call.id;
    this.target = `${call.target.provider}/${shownText(plainTarget(call.target))}`;
    this.principal = call.principal.id;
    this.front = call.origin.front;
    this.#out = out;
    this.#verb = call.verb;
  }

  write(event: CallEvent): boolean {
    this.code = failureOf(event, this.#verb) ?? this.code;
    return this.#out.write(event);
  }

  ready(): Promise<void> {
    return this.#out.ready();
  }
}

/** The same where the log names addresses. */
class AddressedCall extends TracedCall {
  readonly address: string;

  constructor(call: Call, out: Out, address: string) {
    super(call, out);
    this.address = address;
  }
}
