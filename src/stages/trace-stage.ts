import {
  type Call,
  type CallEvent,
  type Clock,
  callError,
  type Log,
  type LogFields,
  type Meter,
  type Out,
  type Stage,
} from "../contract/index.ts";
import { failureOf } from "./failure-of.ts";
import type { FinishedCall, RecentCalls } from "./recent-calls.ts";

export type TraceOptions = {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly recent: RecentCalls;
  /** Measures how long calls take, and where. */
  readonly times?: { finished(call: FinishedCall): void } | undefined;
};

/** Counts every call, writes its one log line when it has finished, and keeps how it went for a while. */
export function traceStage(options: TraceOptions): Stage {
  const { clock, log, meter, recent, times } = options;
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
      meter.count("isthmus_calls_total", traced.code);
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

  constructor(call: Call, out: Out) {
    this.callId = call.id;
    this.target = `${call.target.provider}/${call.target.name}`;
    this.principal = call.principal.id;
    this.front = call.origin.front;
    this.#out = out;
  }

  write(event: CallEvent): boolean {
    this.code = failureOf(event) ?? this.code;
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
