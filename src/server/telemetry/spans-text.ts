import type { Span } from "../../contract/index.ts";

/** A call is served by us and asked of somebody else: towards the trace we are the server. */
const KIND_SERVER = 2;
const STATUS_ERROR = 2;

/** Spans as the body of an OTLP request. */
export function spansText(spans: readonly Span[], version: string): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributes({ "service.name": "isthmus", "service.version": version }) },
        scopeSpans: [{ scope: { name: "isthmus", version }, spans: spans.map(otlpSpan) }],
      },
    ],
  });
}

function otlpSpan(span: Span): object {
  const { traceId, spanId, parentSpanId, name, startMs, endMs, error } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: KIND_SERVER,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributes(error === undefined ? span.attributes : { ...span.attributes, "error.type": error }),
    ...(span.events && {
      events: span.events.map((event) => ({ name: event.name, timeUnixNano: nanoseconds(event.atMs) })),
    }),
    status: error === undefined ? {} : { code: STATUS_ERROR, message: error },
  };
}

function attributes(values: Readonly<Record<string, string>>): object[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: { stringValue: value } }));
}

/** As text: the number is larger than what JSON readers keep exactly. */
function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}
