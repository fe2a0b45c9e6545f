/** W3C trace context: which trace a call belongs to, as one line of text that goes from hop to hop. */
export type TraceContext = {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits: the span of whoever sent it. */
  readonly spanId: string;
  readonly isSampled: boolean;
};

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Undefined for anything that is not a valid `traceparent`: the hop then starts a trace of its own. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const match = text === undefined || text.length > 512 ? null : TRACEPARENT.exec(text);
  if (!match) return undefined;
  const [, version = "", traceId = "", spanId = "", flags = "", rest] = match;
  // Version 00 has exactly four parts; later ones may have more.
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}
