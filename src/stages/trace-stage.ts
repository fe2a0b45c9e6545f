import {
  type Call,
  type CallEvent,
  type Clock,
  GatewayError,
  type Log,
  type LogFields,
  type Meter,
  type Out,
  type Stage,
} from "../contract/index.ts";

/** Times every stage after it, counts the call, and writes the one log line of a finished call. */
export function traceStage(options: { clock: Clock; log: Log; meter: Meter }): Stage {
  const { clock, log, meter } = options;
  return async function trace(call, out, next) {
    const start = clock.now();
    const traced = new TracedCall(call, out);
    try {
      await next(call, traced);
    } catch (error) {
      traced.code = GatewayError.from(error).code;
      throw error;
    } finally {
      traced.durationMs = Math.round((clock.now() - start) * 10) / 10;
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
    if (event.type === "error") this.code = event.error.code;
    else if (event.type === "end" && event.outcome === "fault") this.code = "fault";
    return this.#out.write(event);
  }

  ready(): Promise<void> {
    return this.#out.ready();
  }
}
