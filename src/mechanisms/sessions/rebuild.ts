/** A session whose home is gone, built anew from what it left in shared state. */
import type { Meter, Payload } from "../../contract/index.ts";
import { restoreOutbox } from "./kept-outbox.ts";
import type { OutboxLimits } from "./outbox.ts";
import { Session, type Voice } from "./session.ts";
import type { Claimed, SessionKeeper, Wanted } from "./session-keeper.ts";
import { declaredBy } from "./session-record.ts";

/** Questions of one home never have the ids of another's: a late answer must not be taken for one to a new question. */
const QUESTIONS_PER_HOME = 1_000_000;

export type RebuildOptions = {
  readonly keeper: SessionKeeper;
  readonly voice: Voice;
  readonly intern: (text: string) => Payload;
  readonly now: number;
  readonly outbox: OutboxLimits;
  readonly meter: Meter;
};

/** Its subscriptions are put up by whoever knows all of them. */
export function rebuildSession(wanted: Wanted, claimed: Claimed, options: RebuildOptions): Session {
  const { keeper, voice, intern, now } = options;
  const { record, fence, items } = claimed;
  const { principal, catalog } = wanted;
  const { protocol, canBeAsked, isPeer = false, logLevel, seen } = record;
  const opening = { voice, principal, catalog, protocol, canBeAsked, isPeer, ...declaredBy(record, intern) };
  const session = new Session(wanted.id, opening, now, false, record.createdAt - keeper.epoch);
  session.logLevel = logLevel;
  if (seen) session.seen = { ...seen };
  session.askFrom(fence * QUESTIONS_PER_HOME);
  const outbox = session.openOutbox(options.outbox, options.meter);
  const orphans = restoreOutbox({ outbox, items, sent: record.sent, fence });
  keeper.adopt(session, outbox, claimed, orphans);
  return session;
}
