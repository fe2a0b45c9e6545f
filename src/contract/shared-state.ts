/**
 * What every process of a gateway sees of the others: who is there, which process a session lives in, what must outlive a
 * process. Implemented on memory, SQLite and Redis; one contract suite runs on all of them.
 *
 * Every method makes one trip. It rejects with STATE_UNAVAILABLE when the store does not answer in time; nothing may then
 * be assumed about whether it took effect. What it resolves to was durable before: a caller may be told.
 */
export interface SharedState {
  readonly members: Membership;
  readonly entries: Entries;
  readonly logs: Logs;
  readonly channel: Channel;
  readonly calls: CallLedger;
  /** False while the store does not answer: whoever can do without it need not try. */
  readonly isUp: boolean;
  /** Tells when `isUp` changes. */
  onHealth(listener: (isUp: boolean) => void): () => void;
  close(): Promise<void>;
}

/** A process. `address`: where its internal listener is reached, as host:port; "" where it has none. */
export type Member = { readonly id: string; readonly address: string };

/** Processes, each under a lease: whoever does not renew it is taken for dead. Times run on the store's clock. */
export interface Membership {
  /** Begins a lease under an id that was never used before. */
  join(member: Member, leaseMs: number): Promise<void>;
  /** False: the lease was over, and others may have taken what was ours. It is not renewed then. */
  renew(id: string, leaseMs: number): Promise<boolean>;
  /** Gives up the lease: everything it owns may be claimed at once. */
  leave(id: string): Promise<void>;
  find(id: string): Promise<Member | undefined>;
  list(): Promise<readonly Member[]>;
}

/**
 * A value that one member owns. `fence` grows by one with each new owner. `home` is the owner where its lease is alive;
 * without one, anybody may claim the entry.
 */
export type OwnedEntry = {
  readonly value: string;
  readonly owner: string;
  readonly fence: number;
  readonly home: Member | undefined;
};

/** Values that outlive their owner. Only the owner writes: a process that was taken for dead writes in vain. */
export interface Entries {
  get(key: string): Promise<OwnedEntry | undefined>;
  /**
   * Makes `by` the owner where there is none, or where the owner's lease is over; an entry of a live owner stays. Resolves
   * to the entry as it is then. `created`: the value of an entry that was not there; without it there stays none.
   */
  claim(
    key: string,
    by: string,
    created?: { readonly value: string; readonly ttlMs: number },
  ): Promise<OwnedEntry | undefined>;
  /** Writes the value, and lets it live `ttlMs` from now. False: somebody else owns it, or it is gone. */
  put(key: string, by: string, value: string, ttlMs: number): Promise<boolean>;
  /** Lets it live `ttlMs` from now. False as with `put`. */
  touch(key: string, by: string, ttlMs: number): Promise<boolean>;
  /** Gives it up: it keeps its value and its time, and whoever claims it first has it. False as with `put`. */
  release(key: string, by: string): Promise<boolean>;
  /** False as with `put`. */
  drop(key: string, by: string): Promise<boolean>;
}

export type LogItem = { readonly sequence: number; readonly text: string };

/** `isFleeting`: worth nothing after the process that embeds the store has ended; only other processes may want it. */
export type LogBounds = {
  readonly maxItems: number;
  readonly maxBytes: number;
  readonly ttlMs: number;
  readonly isFleeting?: boolean;
};

/** Numbered texts, the oldest of which go first. Whoever writes gives the numbers, growing. */
export interface Logs {
  append(log: string, items: readonly LogItem[], bounds: LogBounds): Promise<void>;
  /** Those after this number, in order. */
  read(log: string, after: number): Promise<readonly LogItem[]>;
  /** Takes back one item. */
  remove(log: string, sequence: number): Promise<void>;
  drop(log: string): Promise<void>;
}

/** Words to the other processes, which may be lost: whoever hears nothing must be right all the same. */
export interface Channel {
  publish(topic: string, text: string): void;
  /** Resolves when it hears. A process hears its own words, too. */
  subscribe(topic: string, hear: (text: string) => void): Promise<() => Promise<void>>;
}

/** What is known of a call before it is dispatched. */
export type Admission = {
  readonly call: string;
  readonly member: string;
  readonly session?: string;
  /** What a survivor must know to end it: JSON. */
  readonly facts: string;
  /** The caller named the call: it is made once, however often it is asked for. `digest`: of what is asked. */
  readonly once?: { readonly key: string; readonly digest: string; readonly ttlMs: number };
  /** How long it may run; its record is forgotten some time after that. */
  readonly ttlMs: number;
  /** Taken together, or not at all, where the call is let in; a repeat of a named call is not charged. */
  readonly debits?: readonly Debit[] | undefined;
  /** Held until it is settled, or its process is gone. */
  readonly slots?: readonly SlotClaim[] | undefined;
};

/** In this order the one that refuses is named. */
export const LIMIT_LEVELS = ["primitive", "user", "client", "tenant", "server", "global"] as const;
export type LimitLevel = (typeof LIMIT_LEVELS)[number];

/**
 * Tokens out of a bucket, which is full where it was never used. Times run on the store's clock. All are whole numbers, so
 * that nothing is won or lost by rounding however long a bucket is used; `capacity` times `periodMs` is below 2 to the 53.
 */
export type Debit = {
  readonly key: string;
  readonly level: LimitLevel;
  readonly capacity: number;
  /** Default 1. */
  readonly amount?: number;
  /** So many come back in each `periodMs`, one after the other; 0: none does, it is a budget. */
  readonly refill: number;
  readonly periodMs: number;
  /** How long a bucket that nobody uses is remembered; at least as long as it takes to fill. */
  readonly ttlMs: number;
  /** Each session has its own: whoever opens another one has a full bucket, so that this one may be forgotten. Default false. */
  readonly isOfSession?: boolean;
  /** A digest of the tenant whose callers it counts; unset: the platform's own people. */
  readonly tenant?: string;
  /** That tenant has set it for itself, and could take it away: of too many such ones, the longest unused are forgotten. Default false. */
  readonly isOwn?: boolean;
};

/** So many buckets that a tenant has set for itself are remembered. */
export const MAX_OWN_BUCKETS = 50_000;

/** A place among so many that run at once. */
export type SlotClaim = { readonly key: string; readonly level: LimitLevel; readonly max: number };

/** What one call takes: all of it or nothing. Both lists in the order of the levels. */
export type Charge = {
  readonly call: string;
  readonly member: string;
  readonly debits?: readonly Debit[] | undefined;
  readonly slots?: readonly SlotClaim[] | undefined;
};

/** Nothing was taken: the bucket is empty, or all places are. `retryMs` unset: nobody knows when. */
export type Limited = {
  readonly type: "limited";
  readonly of: "bucket" | "places";
  readonly level: LimitLevel;
  readonly key: string;
  readonly retryMs?: number;
};

/** Buckets and places of a process that counts for itself: it need not wait to know. */
export interface Counters {
  take(charge: Charge): Limited | undefined;
  /** Gives back the places of a call. */
  free(call: string, slots: readonly SlotClaim[]): void;
}

export type Admitted =
  /** It may go; without `once` and without a charge there is no other answer. */
  | { readonly type: "open" }
  /** It was made before, and this was the answer. */
  | { readonly type: "done"; readonly answer: string }
  /** It is being made, by that call. */
  | { readonly type: "running"; readonly call: string; readonly home: Member }
  /** It was begun by a process that is gone, and nobody knows how it ended. Once told, it stays so: a later settlement is void. */
  | { readonly type: "lost"; readonly call: string }
  /** The same name was given to something else. */
  | { readonly type: "mismatch" }
  | Limited;

export type Settlement = {
  readonly call: string;
  readonly session?: string;
  readonly member?: string;
  /** The places it held, which are those of `member`. */
  readonly slots?: readonly SlotClaim[] | undefined;
  /** `answer` absent: it is forgotten, and may be made again. */
  readonly once?: {
    readonly key: string;
    readonly answer?: string;
    readonly ttlMs: number;
    /** In which an answer takes place. Unset: in none. */
    readonly rooms?: readonly KeptRoom[] | undefined;
  };
};

/** So many answers are kept for somebody, with so many bytes of keys and answers; the oldest make room, never one that runs. */
export type KeptRoom = { readonly name: string; readonly maxItems: number; readonly maxBytes: number };

export type OpenCall = {
  readonly call: string;
  readonly member: string;
  readonly isLost: boolean;
  readonly facts: string;
};

/** Calls that are open, and the answers of those that were named. The two trips of a call. */
export interface CallLedger {
  admit(admission: Admission): Promise<Admitted>;
  /** Resolves to the rooms that were full, so that older answers were forgotten. */
  settle(settlement: Settlement): Promise<readonly KeptRoom[] | undefined>;
  /** The third trip of a call that was held: it takes now what it did not take when it was admitted. */
  charge(charge: Charge): Promise<Limited | undefined>;
  /** Where buckets and places are in this process, so that a decision needs no trip. Unset: other processes have them, too. */
  readonly counters?: Counters;
  /** Calls of a session that were not settled. */
  openOf(session: string): Promise<readonly OpenCall[]>;
}
