/** Lets the other processes know of every call that runs, and makes a call that its caller has named only once. */
import {
  type Admission,
  type Call,
  type CallEvent,
  type Clock,
  type ErrorCode,
  GatewayError,
  type Next,
  type Out,
  type Payload,
  type SharedState,
  type Stage,
  type Timers,
} from "../contract/index.ts";
import { callDigest, type EndOrError, ledgerKey, NamedCalls, ONCE_TTL_MS } from "../mechanisms/runs/index.ts";

/** A call may go on as a task for a day. */
const LONGEST_MS = 25 * 60 * 60_000;

export type LedgerOptions = {
  readonly state: Pick<SharedState, "calls" | "channel" | "isUp">;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Who we are to the other processes now. */
  readonly member: () => string;
  /** Other processes may see the store: no call is made before they can know of it. */
  readonly isShared: boolean;
  /** Whether a provider's error only says that its caller has something to do first: then nothing was made. */
  readonly isQuestion?: (fault: Payload) => boolean;
};

export function ledgerStage(options: LedgerOptions): Stage {
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

  async function once(call: Call, out: Out, next: Next): Promise<void> {
    if (!state.isUp) throw new GatewayError("STATE_UNAVAILABLE");
    const name = { key: ledgerKey(call), digest: callDigest(call), ttlMs: ONCE_TTL_MS };
    const record = Object.assign(new OpenRecord(call, member(), epoch + clock.now()), { once: name });
    const mayOutlast = call.life === "detached" || call.mayDefer === true;
    const deadline = mayOutlast ? clock.now() + LONGEST_MS : call.deadline;
    const answer = await named.admit(record, { signal: call.signal, deadline });
    if (answer) return void out.write(answer);
    const held = new HeldEnd(out, (end) => named.settle(record, end && keptOf(end)));
    try {
      await next(call, held);
    } finally {
      await held.settled();
    }
  }

  function keptOf(end: EndOrError): EndOrError | undefined {
    const isFault = end.type === "end" && end.outcome === "fault";
    return isFault && options.isQuestion?.(end.payload) ? undefined : end;
  }

  return function ledger(call, out, next) {
    return call.once === undefined ? plain(call, out, next) : once(call, out, next);
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

/** A call in the table of open ones. The facts are written down only if the store comes to need them. */
class OpenRecord implements Admission {
  readonly call: string;
  readonly member: string;
  declare readonly session?: string;
  readonly ttlMs = LONGEST_MS;
  readonly #call: Call;
  readonly #startedAt: number;

  constructor(call: Call, member: string, startedAt: number) {
    this.call = call.id;
    this.member = member;
    // A call that ends with its connection has nobody who comes back and asks.
    if (call.session && !call.session.isEphemeral && call.life !== "bound") this.session = call.session.id;
    this.#call = call;
    this.#startedAt = startedAt;
  }

  get facts(): string {
    const { origin, method, target, input } = this.#call;
    const hasToken = input.text.includes('"progressToken"');
    const progressToken = hasToken ? input.at(["_meta", "progressToken"]) : undefined;
    return JSON.stringify({ requestId: origin.requestId, method, target, startedAt: this.#startedAt, progressToken });
  }
}

/** Failures by which nothing was made: the same call may be asked for again. */
const NOT_MADE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "BAD_CALL",
  "NOT_AUTHENTICATED",
  "NOT_ALLOWED",
  "NO_SUCH_TARGET",
  "LIMITED",
  "CANCELLED",
  "PROVIDER_UNREACHABLE",
  "NOT_READY",
  "STATE_UNAVAILABLE",
]);

/** Holds back the end of a named call until it is kept: nobody may hear an answer that a repeat would not get. */
class HeldEnd implements Out {
  readonly #out: Out;
  readonly #settle: (end: EndOrError | undefined) => Promise<void>;
  #hasSpoken = false;
  #settled: Promise<void> | undefined;

  constructor(out: Out, settle: (end: EndOrError | undefined) => Promise<void>) {
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
    if (code === "CANCELLED" && details.by === "gateway") return OUTCOME_UNKNOWN;
    if (code === "OVERLOADED") return this.#hasSpoken ? event : undefined;
    return NOT_MADE.has(code) ? undefined : event;
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

/** The gateway broke off a call that its caller still wanted. */
const OUTCOME_UNKNOWN: EndOrError = { type: "error", error: new GatewayError("OUTCOME_UNKNOWN") };
