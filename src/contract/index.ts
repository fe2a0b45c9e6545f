export type { Answer, Ask, AskKind, Call, CallEvent, CallReply, Life, Next, Out, Stage, Target, Verb } from "./call.ts";
export { ERROR_CODES, type ErrorCode, GatewayError } from "./error.ts";
export { FlightTable } from "./flight-table.ts";
export { headerLine } from "./header-line.ts";
export type { BodyTaker, HttpRequest, HttpResponse } from "./http.ts";
export { canonicalJson, digestJson } from "./json/canonical.ts";
export { Members, membersAt } from "./json/members.ts";
export { JsonFault, Scanner } from "./json/scanner.ts";
export { checkUtf8, decodeString, jsonText, stringOf, textOf, textOfBytes } from "./json/text.ts";
export { COUNTERS, type CounterName, GAUGES, type GaugeName } from "./metrics.ts";
export { joinName, RESERVED_CATALOG_IDS, segmentOf } from "./names.ts";
export type { Notice } from "./notice.ts";
export { type Frame, type Payload, payload, spliceText } from "./payload.ts";
export type {
  Attachment,
  CallOrder,
  Catalog,
  Clock,
  Entry,
  Keys,
  Log,
  LogFields,
  Meter,
  ProviderFacts,
  Reader,
  Run,
  Runs,
  Sessions,
  TaskRecord,
  Timer,
  Timers,
  View,
  ViewList,
} from "./ports.ts";
export { LISTED_KINDS, type ListedKind, type Offer, type Primitive, type Scope } from "./primitive.ts";
export type { Host, Provider, ProviderState, ProviderStatus } from "./provider.ts";
export type { Principal, SessionRef } from "./session.ts";
export { parseBytes, parseDurationMs } from "./units.ts";
