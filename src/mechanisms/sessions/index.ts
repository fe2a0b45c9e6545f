export { Outbox, type OutboxItem, type OutboxLimits, type OutboxWriter } from "./outbox.ts";
export {
  type OpenAsk,
  type RunningCall,
  Session,
  type SessionOpening,
  type Subscription,
  type Voice,
} from "./session.ts";
export { createSessions, type SessionRegistry, type SessionsOptions } from "./sessions.ts";
export { subscriptionFor } from "./subscribers.ts";
