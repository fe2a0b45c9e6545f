export {
  APPROVAL_STATES,
  type Approval,
  type ApprovalChange,
  type ApprovalFilter,
  type ApprovalRows,
  type ApprovalState,
  type ConfirmAnswer,
  type Confirmations,
  type ConfirmOrder,
  isOpen,
  NO_INPUT,
} from "./approval.ts";
export {
  type ActorType,
  type AuditEvent,
  type AuditResult,
  type AuditTrail,
  type AuditType,
  type LostAnswer,
  untracked,
} from "./audit.ts";
export type {
  AuditBlock,
  AuditChange,
  AuditCheckpoint,
  AuditEdge,
  AuditHead,
  AuditPlace,
  AuditRows,
  AuditRun,
  AuditSearch,
  OldBlock,
  UnindexedBlock,
} from "./audit-rows.ts";
export { type BlobBytes, isBlobId } from "./blob-bytes.ts";
export type {
  Block,
  BlockChange,
  BlockRows,
  BlockSubject,
  Blocks,
  TokenRevoker,
} from "./block.ts";
export {
  type Answer,
  type Ask,
  type AskKind,
  type Call,
  type CallEvent,
  type CallReply,
  changedCall,
  type Life,
  type Next,
  type Origin,
  type Out,
  type Stage,
  type StagedRun,
  type Target,
  type Timing,
  type Verb,
  withInput,
} from "./call.ts";
export type { Change, DeliveryChange, Policy, PolicyChange, PolicyEntry, PolicyRows } from "./change.ts";
export { type Decision, EVIDENCE, type Evidence, isEnough } from "./decision.ts";
export { callError, ERROR_CODES, type ErrorCode, GatewayError } from "./error.ts";
export type { EventFeed, FeedEvent, TrailFeed } from "./event-feed.ts";
export { armFaultPoints, faultPoint } from "./fault-point.ts";
export { FlightTable } from "./flight-table.ts";
export { headerLine } from "./header-line.ts";
export { HOME_HEADER, type Hop, type HopEnd } from "./hop.ts";
export type { BodyTaker, HttpPeer, HttpRequest, HttpResponse } from "./http.ts";
export { canonicalJson, digestJson } from "./json/canonical.ts";
export { Members, membersAt } from "./json/members.ts";
export { JsonFault, Scanner } from "./json/scanner.ts";
export { checkUtf8, copyText, decodeString, jsonText, stringOf, textOf, textOfBytes } from "./json/text.ts";
export { refuseRepeatedKeys } from "./json/unique.ts";
export { type HeldCharges, type IsHeld, limitedError } from "./limited.ts";
export { COUNTERS, type CounterName, GAUGES, type GaugeName, HISTOGRAMS, type HistogramName } from "./metrics.ts";
export { matchesPattern, patternCovers, patternReaches } from "./name-pattern.ts";
export { joinName, markName, type Naming, RESERVED_CATALOG_IDS, segmentOf, underscoreName } from "./names.ts";
export type { Notice } from "./notice.ts";
export type { Checked, Operation, OperationAnswer, OperationContext, Schema, SchemaProblem } from "./operation.ts";
export { type Frame, type Payload, payload, spliceText, unambiguousAt } from "./payload.ts";
export type {
  Access,
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
  Reach,
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
export {
  ANONYMOUS,
  DEFAULT_TENANT,
  hasRole,
  type Identity,
  identityOf,
  LOCAL,
  PEER,
  type Principal,
  ROLES,
  type Role,
} from "./principal.ts";
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
export type { NoteRefusal, RefusedMessage } from "./refused-message.ts";
export type { SessionRef } from "./session.ts";
export {
  type Admission,
  type Admitted,
  type CallLedger,
  type Channel,
  type Charge,
  type Counters,
  type Debit,
  type Entries,
  LIMIT_LEVELS,
  type Limited,
  type LimitLevel,
  type LogBounds,
  type LogItem,
  type Logs,
  type Member,
  type Membership,
  type OpenCall,
  type OwnedEntry,
  type Settlement,
  type SharedState,
  type SlotClaim,
} from "./shared-state.ts";
export { isSeenBy, requirePlatform, tenantOf } from "./tenancy.ts";
export type { TokenChange, TokenRow, TokenRows } from "./token.ts";
export { formatTraceparent, parseTraceparent } from "./trace-context.ts";
export { Turns } from "./turns.ts";
export { parseBytes, parseDurationMs } from "./units.ts";
export { showUnseen } from "./unseen.ts";
export type { CredentialHolder, Refusal, UpstreamCredentials } from "./upstream-credentials.ts";
export type { UpstreamMemory, UpstreamRecall } from "./upstream-memory.ts";
export type {
  KeyProvider,
  RiskClass,
  UpstreamToken,
  UpstreamTokenChange,
  UpstreamTokenFilter,
  UpstreamTokenRow,
  UpstreamTokenRows,
} from "./upstream-token.ts";
