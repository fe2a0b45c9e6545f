export { type InForce, LiveAccess } from "./access.ts";
export { isBlockedNow } from "./blocks-about.ts";
export { rowsOf } from "./by-uri.ts";
export { CountedPattern, CountedUri } from "./counted-uri.ts";
export type { AccessDecision, Question } from "./decide.ts";
export { compileCondition, ExpressionFault } from "./expression.ts";
export { LivePolicy } from "./live-policy.ts";
export { MemoryPolicy } from "./memory-policy.ts";
export { isOfferedTo } from "./offered-to.ts";
export type { OfferedPrimitive } from "./operations/index.ts";
export { misspelledPatterns } from "./pattern-spelling.ts";
export { barest } from "./plain-path.ts";
export { namedByPlatform } from "./platform-names.ts";
export {
  type AccessPolicy,
  ANY,
  BINDING_TARGETS,
  type Binding,
  DEFAULT_POLICIES,
  type Exposure,
  type Grant,
  type Rule,
} from "./policy.ts";
export type { Refusal } from "./reach.ts";
export { rowsThatHold } from "./rows-that-hold.ts";
export {
  keyOf as keyOfName,
  type NameOfNothing,
  type NameUse,
  namesOfNothing,
  useOfBinding,
  useOfGrant,
  usesIn,
} from "./shown-names.ts";
export { accessRows, joinPolicy, readExposure, unreadableRow } from "./stored-policy.ts";
