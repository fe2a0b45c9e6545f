/** What an outage of a store does to callers, as data: `chaos:stores` holds it, and the docs publish it. */

/**
 * served: as ever. refused: at once or after a short wait, with a hint to come back; nothing was done. denied: as ever, too, of
 * what nobody may do.
 */
export type Effect = "served" | "refused" | "denied";

export type PlainProbe =
  | "new session"
  | "call in a session"
  | "call without a session"
  | "call with a key"
  | "call under a rate or a number of places"
  | "call under a budget"
  | "slow call that may be a task"
  | "poll of a task at its home"
  | "poll of an ended task elsewhere";

/** What is there only where callers are asked who they are, and what they may. */
export type GovernedProbe =
  | "call with a token that was seen before"
  | "call with a token that was not seen before"
  | "call with a token that was revoked"
  | "call that a policy forbids"
  | "call that is recorded"
  | "call that must be approved first"
  | "yes or no to a call that waits"
  | "call that was approved"
  | "new token"
  | "revocation of a token"
  | "change of a grant"
  | "look at the audit trail";

export type Probe = PlainProbe | GovernedProbe;

export const PROBES: readonly PlainProbe[] = [
  "new session",
  "call in a session",
  "call without a session",
  "call with a key",
  "call under a rate or a number of places",
  "call under a budget",
  "slow call that may be a task",
  "poll of a task at its home",
  "poll of an ended task elsewhere",
];

/** Another policy lets no approval be used that was given under the former one: the change of a grant comes last. */
export const GOVERNED_PROBES: readonly GovernedProbe[] = [
  "call with a token that was seen before",
  "call with a token that was not seen before",
  "call with a token that was revoked",
  "call that a policy forbids",
  "call that is recorded",
  "call that must be approved first",
  "yes or no to a call that waits",
  "call that was approved",
  "new token",
  "revocation of a token",
  "look at the audit trail",
  "change of a grant",
];

/** While everything is well. */
export function effectAsEver(probe: Probe): Effect {
  return probe === "call that a policy forbids" || probe === "call with a token that was revoked" ? "denied" : "served";
}

export type StoreName = "Redis" | "PostgreSQL";

/** Once the lease is over; until then sessions go on at their homes. */
export const WHILE_AWAY: Readonly<Record<StoreName, Readonly<Record<Probe, Effect>>>> = {
  Redis: {
    "new session": "refused",
    "call in a session": "refused",
    "call without a session": "served",
    "call with a key": "refused",
    // Each process lets its share through.
    "call under a rate or a number of places": "served",
    "call under a budget": "refused",
    "slow call that may be a task": "served",
    "poll of a task at its home": "served",
    "poll of an ended task elsewhere": "served",
    "call with a token that was seen before": "served",
    "call with a token that was not seen before": "served",
    "call with a token that was revoked": "denied",
    "call that a policy forbids": "denied",
    "call that is recorded": "served",
    "call that must be approved first": "served",
    "yes or no to a call that waits": "served",
    "call that was approved": "served",
    "new token": "served",
    "revocation of a token": "served",
    "look at the audit trail": "served",
    "change of a grant": "served",
  },
  PostgreSQL: {
    "new session": "served",
    "call in a session": "served",
    "call without a session": "served",
    "call with a key": "served",
    "call under a rate or a number of places": "served",
    "call under a budget": "served",
    // Answered when it is done, however long that takes: no task is made that nobody could keep.
    "slow call that may be a task": "served",
    "poll of a task at its home": "served",
    "poll of an ended task elsewhere": "refused",
    "call with a token that was seen before": "served",
    "call with a token that was not seen before": "refused",
    "call with a token that was revoked": "denied",
    "call that a policy forbids": "denied",
    // Its event is in the spool before it is answered.
    "call that is recorded": "served",
    "call that must be approved first": "refused",
    "yes or no to a call that waits": "refused",
    "call that was approved": "refused",
    "new token": "refused",
    "revocation of a token": "refused",
    "look at the audit trail": "refused",
    "change of a grant": "refused",
  },
};

/** How a store goes away. restarted: in order, and back at once: then nothing may be refused any more. */
export const WAYS = ["restarted", "killed", "stopped", "delayed", "reset", "half-open"] as const;
export type Way = (typeof WAYS)[number];
