/** Lets the other processes know of every call that runs, and makes a call that its caller has named only once. */
import {
  type Call,
  type CallEvent,
  type Clock,
  type ErrorCode,
  GatewayError,
  type Log,
  type Next,
  type Out,
  type Payload,
  type SharedState,
  type Stage,
  type Timers,
} from "../contract/index.ts";
import { waitsBelow } from "../mechanisms/approvals/index.ts";
import type { Limitable, LimitPlan } from "../mechanisms/limits/index.ts";
import {
  CrowdedRooms,
  callDigest,
  type EndOrError,
  ledgerKey,
  NamedCalls,
  ONCE_TTL_MS,
} from "../mechanisms/runs/index.ts";
import { ChargedRecord, LONGEST_MS, OpenRecord, type SharedLimits } from "./open-record.ts";

export type LedgerOptions = {
  readonly state: Pick<SharedState, "calls" | "channel" | "isUp">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log?: Log | undefined;
  /** Who we are to the other processes now. */
  readonly member: () => string;
  /** Other processes may see the store: no call is made before they can know of it. */
  readonly isShared: boolean;
  /** Whether a provider's error only says that its caller has something to do first: then nothing was made. */
  readonly isQuestion?: (fault: Payload) => boolean;
  /** What calls take out of what all processes count together, with the trips that the ledger makes; unset: nothing. */
  readonly limits?: LedgerLimits | undefined;
};

export type LedgerLimits = SharedLimits & {
  /** Undefined: calls on it take nothing. */
  planOf(entry: Limitable): LimitPlan | undefined;
};

type Limiting = SharedLimits & { readonly plan: LimitPlan };

/** A stage for each primitive; those that are limited alike have the same. */
export function ledgerStages(options: LedgerOptions): (entry: Limitable) => Stage {
  const crowded = options.log && new CrowdedRooms(options.log);
  const unlimited = ledgerStage({ ...options, crowded });
  const { limits } = options;
  if (!limits) return () => unlimited;
  const stages = new WeakMap<LimitPlan, Stage>();
  return (entry) => {
    const plan = limits.planOf(entry);
    if (!plan) return unlimited;
    const stage = stages.get(plan) ?? ledgerStage({ ...options, crowded }, { ...limits, plan });
    stages.set(plan, stage);
    return stage;
  };
}

type StageOptions = LedgerOptions & { readonly crowded?: CrowdedRooms | undefined };

export function ledgerStage(options: StageOptions, limiting?: Limiting): Stage {
  const { state, clock, member, isShared } = options;
  const { calls } = state;
  const named = new NamedCalls({ ...options, calls, channel: state.channel });
  const epoch = Date.now() - clock.now();
  const admitted = new Unheeded();
  const settled = new Unheeded();

  /** Nothing is promised to the caller by its record, so nobody waits for it unless it is the others'. */
  async function plain(call: Call, out: Out, next: Next): Promise<void> {
    const open = new OpenRecord(call, member(), epoch + clock.now());
    if (state.isUp) {
      const admission = calls.admit(open);
      if (isShared) await admission.then(ignore, ignore);
      else admitted.ignore(admission);
    }
    try {
      await next(call, out);
    } finally {
      if (state.isUp) settled.ignore(calls.settle(open));
    }
  }

  /** As a plain one; but whether it may go is known only from its record. */
  async function charged(open: ChargedRecord, call: Call, out: Out, next: Next): Promise<void> {
    await open.admit();
    try {
      await next(call, out);
    } finally {
      open.settle();
    }
  }

  async function once(open: OpenRecord | ChargedRecord, call: Call, out: Out, next: Next): Promise<void> {
    if (!state.isUp) throw new GatewayError("STATE_UNAVAILABLE");
    const name = { key: ledgerKey(call), digest: callDigest(call), ttlMs: ONCE_TTL_MS };
    const record = Object.assign(open, { once: name });
    const mayOutlast = call.life === "detached" || call.mayDefer === true;
    const deadline = mayOutlast ? clock.now() + LONGEST_MS : call.deadline;
    const answer = await named.admit(record, { signal: call.signal, deadline });
    if (answer) return void out.write(answer);
    if (open instanceof ChargedRecord) open.begin();
    const settle = (end: EndOrError | undefined) => {
      const isCharged = open instanceof ChargedRecord && open.slots?.length;
      const slots = isCharged && !open.isLingering ? open.slots : undefined;
      return named.settle(
        { call: open.call, session: open.session, member: open.member, once: name, slots, principal: call.principal },
        end && keptOf(end),
      );
    };
    const held = new HeldEnd(call, out, settle);
    try {
      await next(call, held);
    } finally {
      await held.settled();
      if (open instanceof ChargedRecord) open.end();
    }
  }

  function keptOf(end: EndOrError): EndOrError | undefined {
    if (end.type !== "end") return end;
    const isOpen = end.outcome === "fault" ? options.isQuestion?.(end.payload) : waitsBelow(end.payload);
    return isOpen ? undefined : end;
  }

  return function ledger(call, out, next) {
    const charges = limiting?.plan.chargesOf(call);
    if (call.once === undefined && charges === undefined) return plain(call, out, next);
    const [by, startedAt] = [member(), epoch + clock.now()];
    if (limiting === undefined || charges === undefined)
      return once(new OpenRecord(call, by, startedAt), call, out, next);
    const open = new ChargedRecord(call, by, startedAt, { limits: limiting, charges });
    return call.once === undefined ? charged(open, call, out, next) : once(open, call, out, next);
  };
}

function ignore(): void {}

/**
 * Promises that nobody waits for, and whose failure is no news. A store that writes in groups gives the same one to every
 * call of a group: to hang something on it with each call would keep that alive until the group is written.
 */
class Unheeded {
  #last: Promise<unknown> | undefined;

  ignore(promise: Promise<unknown>): void {
    if (promise === this.#last) return;
    this.#last = promise;
    promise.catch(ignore);
  }
}

/** Failures by which nothing was made: the same call may be asked for again. */
const NOT_MADE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "BAD_CALL",
  "NOT_AUTHENTICATED",
  "NOT_ALLOWED",
  "NO_SUCH_TARGET",
  "LIMITED",
  "CONFIRMATION_REQUIRED",
  "CONSENT_REQUIRED",
  "CANCELLED",
  "PROVIDER_UNREACHABLE",
  "NOT_READY",
  "STATE_UNAVAILABLE",
]);

/** Holds back the end of a named call until it is kept: nobody may hear an answer that a repeat would not get. */
class HeldEnd implements Out {
  readonly #call: Call;
  readonly #out: Out;
  readonly #settle: (end: EndOrError | undefined) => Promise<void>;
  #hasSpoken = false;
  #settled: Promise<void> | undefined;

  constructor(call: Call, out: Out, settle: (end: EndOrError | undefined) => Promise<void>) {
    this.#call = call;
    this.#out = out;
    this.#settle = settle;
  }

  write(event: CallEvent): boolean {
    if (event.type !== "end" && event.type !== "error") {
      this.#hasSpoken = true;
      return this.#out.write(event);
    }
    this.#settled ??= this.#settle(this.#kept(event)).then(() => void this.#out.write(event));
    return true;
  }

  #kept(event: EndOrError): EndOrError | undefined {
    // A question is no answer: whoever comes back with what was asked for makes the call.
    if (event.type === "end") return event.outcome === "input" ? undefined : event;
    const { code, details } = event.error;
    if (code === "CANCELLED" && details.by !== "client" && this.#isSent()) return OUTCOME_UNKNOWN;
    if (code === "OVERLOADED") return this.#hasSpoken ? event : undefined;
    return NOT_MADE.has(code) ? undefined : event;
  }

  /** Its provider may have made it. */
  #isSent(): boolean {
    return (this.#call.timing?.sentAt ?? 0) > 0;
  }

  /** Resolves when the end is out. A call that never had one was not made. */
  settled(): Promise<void> {
    this.#settled ??= this.#settle(undefined);
    return this.#settled;
  }

  ready(): Promise<void> {
    return this.#out.ready();
  }
}

/** Of a call whose caller was gone after it had been sent. */
const OUTCOME_UNKNOWN: EndOrError = { type: "error", error: new GatewayError("OUTCOME_UNKNOWN") };
