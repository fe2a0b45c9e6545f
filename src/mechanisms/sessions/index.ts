export { Outbox, type OutboxItem, type OutboxWriter } from "./outbox.ts";
export {
  type RunningCall,
  Session,
  type Subscription,
  type Voice,
} from "./session.ts";
export { createSessions, type SessionRegistry } from "./sessions.ts";
export { subscriptionFor } from "./subscribers.ts";
