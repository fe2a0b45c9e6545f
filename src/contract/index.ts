export { type BlobBytes, isBlobId } from "./blob-bytes.ts";
export {
  type Answer,
  type Ask,
  type AskKind,
  type Call,
  type CallEvent,
  type CallReply,
  type Life,
  type Next,
  type Origin,
  type Out,
  type Stage,
  type Target,
  type Timing,
  type Verb,
  withInput,
} from "./call.ts";
export { ERROR_CODES, type ErrorCode, GatewayError } from "./error.ts";
export { armFaultPoints, faultPoint } from "./fault-point.ts";
export { FlightTable } from "./flight-table.ts";
export { headerLine } from "./header-line.ts";
export { HOME_HEADER, type Hop, type HopEnd } from "./hop.ts";
export type { BodyTaker, HttpRequest, HttpResponse } from "./http.ts";
export { canonicalJson, digestJson } from "./json/canonical.ts";
export { Members, membersAt } from "./json/members.ts";
export { JsonFault, Scanner } from "./json/scanner.ts";
export { checkUtf8, copyText, decodeString, jsonText, stringOf, textOf, textOfBytes } from "./json/text.ts";
export { COUNTERS, type CounterName, GAUGES, type GaugeName } from "./metrics.ts";
export { matchesPattern, patternCovers, patternReaches } from "./name-pattern.ts";
export { joinName, markName, type Naming, RESERVED_CATALOG_IDS, segmentOf, underscoreName } from "./names.ts";
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
  MappedUris,
  Meter,
  ProviderFacts,
  Reader,
  Run,
  Runs,
  Sessions,
  Span,
  Spans,
  TaskRecord,
  Timer,
  Timers,
  View,
  ViewList,
} from "./ports.ts";
export { LISTED_KINDS, type ListedKind, type Offer, type PinRemark, type Primitive, type Scope } from "./primitive.ts";
export type { Departure, Host, Provider, ProviderState, ProviderStatus } from "./provider.ts";
export type {
  BlobFacts,
  BlobRows,
  Delivery,
  DeliveryRows,
  Records,
  TaskRow,
  TaskRows,
} from "./records.ts";
export type { Principal, SessionRef } from "./session.ts";
export type {
  Admission,
  Admitted,
  CallLedger,
  Channel,
  Entries,
  LogBounds,
  LogItem,
  Logs,
  Member,
  Membership,
  OpenCall,
  OwnedEntry,
  Settlement,
  SharedState,
} from "./shared-state.ts";
export { formatTraceparent, parseTraceparent } from "./trace-context.ts";
export { parseBytes, parseDurationMs } from "./units.ts";
export type { UpstreamMemory, UpstreamRecall } from "./upstream-memory.ts";
