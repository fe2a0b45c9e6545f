export { namesType } from "./accept-header.ts";
export {
  APPROVAL_STATES,
  type Approval,
  type ApprovalChange,
  type ApprovalFilter,
  type ApprovalPage,
  type ApprovalRows,
  type ApprovalState,
  approverAdvice,
  type CallerConnection,
  type ConfirmAnswer,
  type Confirmations,
  type ConfirmOrder,
  decidedOutcome,
  evidenceText,
  isLastingNo,
  isOpen,
  type ListedApproval,
  MAX_LISTED_INPUT,
  NO_INPUT,
  NOBODY_THERE,
  reasonText,
} from "./approval.ts";
export { type AskedBy, isAskedBy, isMadeBy, isSameCaller } from "./asked-by.ts";
export {
  type ActorType,
  AUDIT_TYPES,
  type AuditEvent,
  type AuditResult,
  type AuditTrail,
  type AuditType,
  type LostAnswer,
  type ResultReading,
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
export { bytesOfBase64Url } from "./base64url.ts";
export { type BlobBytes, isBlobId } from "./blob-bytes.ts";
export type {
  Block,
  BlockChange,
  BlockRows,
  BlockSubject,
  Blocks,
  BlocksChanged,
  TokenRevoker,
} from "./block.ts";
export {
  ByteBudget,
  GatheredBytes,
  HeldMessage,
  type Holder,
  holderOf,
  SMALL_BYTES,
} from "./byte-budget.ts";
export {
  type Answer,
  type Ask,
  type AskKind,
  type Call,
  type CallEvent,
  type CallReply,
  changedCall,
  type Life,
  MAX_OPEN_ASKS,
  type Next,
  ONCE_KEY,
  type Origin,
  type Out,
  onceLetGo,
  type Stage,
  type StagedRun,
  type Target,
  type TaskEnding,
  type Timing,
  type Verb,
  withInput,
} from "./call.ts";
export type { Change, DeliveryChange, Policy, PolicyChange, PolicyEntry, PolicyRows } from "./change.ts";
export { type Decision, EVIDENCE, type Evidence, isEnough } from "./decision.ts";
export { callError, ERROR_CODES, ERROR_KEY, type ErrorCode, GatewayError } from "./error.ts";
export type { EventFeed, FeedEvent, TrailFeed } from "./event-feed.ts";
export { armFaultPoints, faultPoint } from "./fault-point.ts";
export { FlightTable } from "./flight-table.ts";
export { GatheredText } from "./gathered-text.ts";
export { headerLine, isFramingHeader, isHeaderName, isHeaderValue } from "./header-line.ts";
export { HOME_FACTS_KEY, HOME_HEADER, type Hop, type HopEnd } from "./hop.ts";
export type { BodyTaker, HttpPeer, HttpRequest, HttpResponse } from "./http.ts";
export { canonicalJson, digestJson, digestJsonOrText } from "./json/canonical.ts";
export { MAX_ITEMS, MAX_MEMBERS, Members, membersAt } from "./json/members.ts";
export { textsAt } from "./json/paths.ts";
export { JsonFault, Scanner } from "./json/scanner.ts";
export { SpecifiedNames } from "./json/spelling.ts";
export { checkUtf8, copyText, decodeString, jsonText, stringOf, textOf, textOfBytes } from "./json/text.ts";
export { refuseRepeatedKeys } from "./json/unique.ts";
export { escapeInvisible } from "./json/visible.ts";
export { type HeldCharges, type IsHeld, limitedError } from "./limited.ts";
export { LongLine, linesOf } from "./lines.ts";
export { keptArguments, type MadeCall, madeCallOf } from "./made-call.ts";
export {
  CALL_METRICS,
  COUNTERS,
  type CounterName,
  GAUGES,
  type GaugeName,
  HISTOGRAMS,
  type HistogramName,
  SERVER_GAUGES,
  type ServerGaugeName,
} from "./metrics.ts";
export { matchesPattern, patternCovers, patternReaches } from "./name-pattern.ts";
export {
  hasSegment,
  joinName,
  markName,
  type Naming,
  RESERVED_CATALOG_IDS,
  segmentOf,
  underscoreName,
} from "./names.ts";
export type { Notice } from "./notice.ts";
export {
  type Checked,
  isChange,
  type Operation,
  type OperationAnswer,
  type OperationContext,
  PROOF_WANTED,
  type Schema,
  type SchemaProblem,
  WHOLE_WANTED,
} from "./operation.ts";
export {
  contentDigest,
  gatewayProof,
  isSameProof,
  makeNonce,
  NONCE,
  OPERATOR_PROOF_MS,
  OPERATOR_PROOF_PATH,
  operatorCredentials,
  readOperatorCredentials,
} from "./operator-proof.ts";
export { ORIGIN_TEXTS, type OriginFault } from "./origin-check.ts";
export { type Pace, type PacedReader, PacedText } from "./paced-text.ts";
export { type Frame, type Payload, payload, spliceText, unambiguousAt } from "./payload.ts";
export { PeerFault } from "./peer-fault.ts";
export type {
  Access,
  Attachment,
  CallOrder,
  Catalog,
  Clock,
  Entry,
  FoundTarget,
  Keys,
  Log,
  LogFields,
  MappedUris,
  Meter,
  ProviderFacts,
  Reach,
  Reader,
  ReturnRefusal,
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
  type CallerNames,
  canChange,
  DEFAULT_TENANT,
  hasRole,
  type Identity,
  identityOf,
  isLocalUser,
  LOCAL,
  PEER,
  type Principal,
  ROLES,
  type Role,
  sourceOf,
} from "./principal.ts";
export { makePrivateFile, replaceFile } from "./private-file.ts";
export { makePrivateFolder, STATE_FOLDER } from "./private-folder.ts";
export type { Departure, Host, Provider, ProviderState, ProviderStatus } from "./provider.ts";
export type {
  BlobFacts,
  BlobRows,
  Delivery,
  DeliveryRows,
  ListedTask,
  Records,
  TaskBounds,
  TaskRow,
  TaskRows,
} from "./records.ts";
export type { NoteRefusal, RefusedMessage } from "./refused-message.ts";
export { GATEWAY_NAME, MAX_REQUESTER, REQUESTER_KEY, requesterOf } from "./requester.ts";
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
  type KeptRoom,
  LIMIT_LEVELS,
  type Limited,
  type LimitLevel,
  type LogBounds,
  type LogItem,
  type Logs,
  MAX_OWN_BUCKETS,
  type Member,
  type Membership,
  type OpenCall,
  type OwnedEntry,
  type Settlement,
  type SharedState,
  type SlotClaim,
} from "./shared-state.ts";
export { type SharingCaller, sharingCallerOf } from "./sharing-caller.ts";
export { copyString, shownText } from "./shown-text.ts";
export { type Effort, finish, mapSteps, type Slices, type Steps } from "./steps.ts";
export { isSeenBy, isTenantName, requirePlatform, tenantOf } from "./tenancy.ts";
export {
  eachToken,
  makerName,
  makersOf,
  NAMED_BY,
  type NamedBy,
  namedByOf,
  type TokenChange,
  type TokenRow,
  type TokenRows,
} from "./token.ts";
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
