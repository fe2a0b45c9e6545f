export { Budget } from "./budget.ts";
export type { Located, Rebuilding } from "./locator.ts";
export { LogWriter } from "./log-writer.ts";
export { MAX_KEPT_TEXT, Outbox, type OutboxItem, type OutboxWriter } from "./outbox.ts";
export {
  type OpenAsk,
  type RunningCall,
  Session,
  type Subscription,
  type Voice,
} from "./session.ts";
export { sessionName } from "./session-name.ts";
export { createSessions, type SessionRegistry } from "./sessions.ts";
export { Shares } from "./shares.ts";
export { MAX_SESSION_TEXT, subscriptionFor, subscriptionsFor, subscriptionTo } from "./subscribers.ts";
export { Turns } from "./turns.ts";
export { createUpstreamMemory } from "./upstream-memory.ts";
