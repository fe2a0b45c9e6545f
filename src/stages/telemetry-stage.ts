/** One span per call, in the trace that the caller named; the provider hears of it as the next hop. */
import { randomBytes } from "node:crypto";
import {
  type Call,
  type CallEvent,
  callError,
  decodeString,
  formatTraceparent,
  identityOf,
  JsonFault,
  jsonText,
  type Out,
  type Payload,
  parseTraceparent,
  type Span,
  type Spans,
  type Stage,
  shownText,
  unambiguousAt,
  type Verb,
  withInput,
} from "../contract/index.ts";
import { plainTarget } from "../mechanisms/audit/index.ts";
import { failureOf } from "./failure-of.ts";

export type TelemetryOptions = {
  readonly spans: Spans;
  /** Everybody's clock, in ms; spans of several processes are laid side by side. */
  readonly now: () => number;
  /** What to add to the kernel's clock for everybody's. */
  readonly epochMs?: number;
};

export function telemetryStage(options: TelemetryOptions): Stage {
  const { spans, now } = options;
  return async function telemetry(call, out, next) {
    const from = parseTraceparent(namedIn(call.input) ?? call.origin.traceparent);
    const { traceId, isSampled } = from ?? { traceId: hex(16), isSampled: true };
    const spanId = hex(8);
    const startMs = now();
    const watched = new Watched(out, call.verb);
    try {
      await next(withInput(call, toldTo(call.input, formatTraceparent({ traceId, spanId, isSampled }))), watched);
    } catch (error) {
      watched.error = callError(error).code;
      throw error;
    } finally {
      if (isSampled) {
        spans.add({
          traceId,
          spanId,
          ...(from && { parentSpanId: from.spanId }),
          name: `${shownText(call.method)} ${shownText(plainTarget(call.target))}`,
          startMs,
          endMs: now(),
          attributes: attributesOf(call),
          events: passedBy(call, options.epochMs ?? 0),
          ...(watched.error !== undefined && { error: watched.error }),
        });
      }
    }
  };
}

const TRACEPARENT_PATH = ["_meta", "traceparent"] as const;

function namedIn(input: Payload): string | undefined {
  return input.text.includes('"traceparent"') ? decodeString(unambiguousAt(input, TRACEPARENT_PATH)) : undefined;
}

/** One that is there twice names no trace: such a call goes on as it came. */
function toldTo(input: Payload, traceparent: string): Payload {
  const value = jsonText(traceparent);
  if (input.text === "") return input.splice([], `{"_meta":{"traceparent":${value}}}`);
  try {
    return input.splice(TRACEPARENT_PATH, value);
  } catch (error) {
    if (error instanceof JsonFault) return input;
    throw error;
  }
}

/** The caller by the names under which logs and the audit trail know it; never by what it was proved with. */
function attributesOf(call: Call): Record<string, string> {
  const { tenant, user } = identityOf(call.principal);
  return {
    "isthmus.principal.id": call.principal.id,
    "isthmus.tenant": tenant,
    ...(user !== "" && { "user.id": user }),
    "mcp.method.name": shownText(call.method),
    "mcp.protocol.version": call.origin.protocol,
    "isthmus.call.id": call.id,
    "isthmus.provider": call.target.provider,
    ...(call.verb === "call" && { "gen_ai.tool.name": shownText(call.target.name) }),
  };
}

/** Each stage when the call came to it, and the provider when it was sent there. */
function passedBy({ timing }: Call, epochMs: number): NonNullable<Span["events"]> {
  if (!timing) return [];
  const { stages, entered, sentAt } = timing;
  const passed = entered.map((at, index) => ({ name: `stage ${stages[index] ?? index}`, atMs: epochMs + at }));
  return sentAt > 0 ? [...passed, { name: "provider", atMs: epochMs + sentAt }] : passed;
}

function hex(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}

/** Watches for how the call ends. */
class Watched implements Out {
  error: string | undefined;
  readonly #out: Out;
  readonly #verb: Verb;

  constructor(out: Out, verb: Verb) {
    this.#out = out;
    this.#verb = verb;
  }

  write(event: CallEvent): boolean {
    this.error ??= failureOf(event, this.#verb);
    return this.#out.write(event);
  }

  ready(): Promise<void> {
    return this.#out.ready();
  }
}
