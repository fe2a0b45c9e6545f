export { type InForce, LiveAccess } from "./access.ts";
export type { AccessDecision, Question } from "./decide.ts";
export { compileCondition, ExpressionFault } from "./expression.ts";
export { LivePolicy } from "./live-policy.ts";
export { MemoryPolicy } from "./memory-policy.ts";
export type { OfferedPrimitive } from "./operations/index.ts";
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
export { accessRows, joinPolicy, readExposure, unreadableRow } from "./stored-policy.ts";
