export type { Located, Rebuilding } from "./locator.ts";
export { LogWriter } from "./log-writer.ts";
export { Outbox, type OutboxItem, type OutboxWriter } from "./outbox.ts";
export {
  type RunningCall,
  Session,
  type Subscription,
  type Voice,
} from "./session.ts";
export { createSessions, type SessionRegistry } from "./sessions.ts";
export { Shares } from "./shares.ts";
export { subscriptionFor } from "./subscribers.ts";
export { createUpstreamMemory } from "./upstream-memory.ts";
