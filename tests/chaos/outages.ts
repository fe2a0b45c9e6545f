/** What an outage of a store does to callers, as data: `chaos:stores` holds it, and the docs publish it. */

/** served: as ever. refused: at once or after a short wait, with a hint to come back; nothing was done. */
export type Effect = "served" | "refused";

export type Probe =
  | "new session"
  | "call in a session"
  | "call without a session"
  | "call with a key"
  | "call under a rate or a number of places"
  | "call under a budget"
  | "slow call that may be a task"
  | "poll of a task at its home"
  | "poll of an ended task elsewhere";

export const PROBES: readonly Probe[] = [
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
  },
};

/** How a store goes away. restarted: in order, and back at once: then nothing may be refused any more. */
export const WAYS = ["restarted", "killed", "stopped", "delayed", "reset", "half-open"] as const;
export type Way = (typeof WAYS)[number];
