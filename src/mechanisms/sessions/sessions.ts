/** Every client session of the process, and how the kernel reaches clients outside calls. */
import { randomUUID } from "node:crypto";
import {
  type Answer,
  type Ask,
  type Clock,
  GatewayError,
  type Log,
  type Meter,
  type Notice,
  type Payload,
  type Principal,
  type SessionRef,
  type Sessions,
  type Timer,
  type Timers,
} from "../../contract/index.ts";
import { createInterner } from "./intern.ts";
import type { Outbox, OutboxItem, OutboxLimits } from "./outbox.ts";
import { Session, type SessionOpening, type Subscription } from "./session.ts";
import { Subscribers } from "./subscribers.ts";

export type SessionsOptions = {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
  /** A session that nobody uses this long is ended. */
  readonly idleMs?: number;
  /** Ended after this time however busy it is; unset: never. */
  readonly maxAgeMs?: number;
  readonly maxSessions?: number;
  readonly outbox?: OutboxLimits;
};

const SWEEP_MS = 60_000;
const IDLE_MS = 30 * 60_000;
const MAX_SESSIONS = 100_000;
const OUTBOX: OutboxLimits = { maxItems: 256, maxBytes: 1024 * 1024 };

export class SessionRegistry implements Sessions {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #subscribers = new Subscribers();
  readonly #outboxLimits: OutboxLimits;
  #sweep: Timer | undefined;
  /** Keeps one copy of equal texts; see `createInterner`. */
  readonly intern: (text: string) => Payload = createInterner();

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#outboxLimits = options.outbox ?? OUTBOX;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Throws OVERLOADED at the bound. */
  create(opening: SessionOpening): Session {
    if (this.#sessions.size >= (this.#options.maxSessions ?? MAX_SESSIONS)) this.#endIdle();
    if (this.#sessions.size >= (this.#options.maxSessions ?? MAX_SESSIONS)) {
      throw new GatewayError("OVERLOADED", { message: "The gateway has as many sessions as it can hold." });
    }
    const session = new Session(randomUUID(), opening, this.#options.clock.now(), false);
    this.#sessions.set(session.id, session);
    if (!this.#sweep) this.#sweepLater();
    return session;
  }

  /** A session for one request: nothing can be asked or pushed, nothing remembers it. */
  ephemeral(opening: SessionOpening): Session {
    return new Session(randomUUID(), opening, this.#options.clock.now(), true);
  }

  /** Undefined for an id that is unknown, expired, or somebody else's. Counts as use. */
  find(id: string, principal: Principal): Session | undefined {
    const session = this.#sessions.get(id);
    if (!session || session.principal.id !== principal.id) return undefined;
    session.lastUsed = this.#options.clock.now();
    return session;
  }

  /** Cancels what runs, refuses what was asked, ends the stream. Safe to call twice. */
  end(session: Session, reason = "the session is over"): void {
    if (session.isEnded) return;
    session.isEnded = true;
    this.#sessions.delete(session.id);
    this.#subscribers.removeAll(session);
    for (const call of session.takeRunning()) call.abandon(reason);
    for (const ask of [...(session.asks?.values() ?? [])]) ask.settle?.(noWay(reason));
    session.asks = undefined;
    session.outbox?.end();
    session.voice.ended(session);
  }

  /** Ends those whose catalog is gone. */
  endIn(isGone: (catalog: string) => boolean, reason: string): void {
    for (const session of [...this.#sessions.values()]) if (isGone(session.catalog)) this.end(session, reason);
  }

  outboxOf(session: Session): Outbox {
    return session.openOutbox(this.#outboxLimits, this.#options.meter);
  }

  /** False when the session had it already. */
  subscribe(session: Session, subscription: Subscription): boolean {
    return !session.isEnded && this.#subscribers.add(session, subscription);
  }

  unsubscribe(session: Session, subscription: Subscription): void {
    this.#subscribers.remove(session, subscription);
  }

  /** What clients want to hear about of these providers, as it stands now. */
  subscriptionsAt(providers: ReadonlySet<string>): { session: Session; subscription: Subscription }[] {
    return [...this.#sessions.values()].flatMap((session) =>
      [...(session.subscriptions?.values() ?? [])]
        .filter(({ provider }) => providers.has(provider))
        .map((subscription) => ({ session, subscription })),
    );
  }

  notice(notice: Notice): void {
    const { to } = notice;
    if ("catalog" in to) return this.#listChanged(notice, to.session);
    if ("session" in to) {
      const session = this.#sessions.get(to.session);
      if (!session) return this.#options.meter.count("isthmus_notices_dropped_total", "no session");
      return this.#tell(session, notice);
    }
    if ("resource" in to) {
      for (const session of this.#subscribers.of(notice.from, to.resource)) this.#tell(session, notice);
      return;
    }
    for (const session of this.#sessions.values())
      if (session.principal.id === to.principal) this.#tell(session, notice);
  }

  #listChanged(notice: Notice, only: string | undefined): void {
    const one = only === undefined ? undefined : this.#sessions.get(only);
    const sessions = only === undefined ? this.#sessions.values() : one ? [one] : [];
    for (const session of sessions) {
      for (const item of session.voice.listChanged(session, notice)) this.#push(session, item);
    }
  }

  #tell(session: Session, notice: Notice): void {
    const item = session.voice.notice(session, notice);
    if (item) this.#push(session, item);
  }

  #push(session: Session, item: OutboxItem): void {
    this.outboxOf(session).push(item);
  }

  ask(ref: SessionRef, ask: Ask, signal: AbortSignal): Promise<Answer> {
    const session = this.#sessions.get(ref.id);
    if (!session || session.isEphemeral) return Promise.reject(noWay("there is no way to ask this client"));
    if (signal.aborted) return Promise.reject(new GatewayError("CANCELLED"));
    const known = session.voice.answer?.(session, ask);
    if (known) return Promise.resolve(known);
    return new Promise<Answer>((resolve, reject) => {
      const withdraw = () => {
        session.asks?.delete(id);
        const outbox = this.outboxOf(session);
        if (!outbox.remove(`ask ${id}`)) outbox.push({ type: "notice", text: session.voice.withdrawal(id) });
        reject(new GatewayError("CANCELLED"));
      };
      const settle = (answer: Answer | GatewayError) => {
        signal.removeEventListener("abort", withdraw);
        if (GatewayError.is(answer)) reject(answer);
        else resolve(answer);
      };
      const id = session.addAsk({ key: ask.key, settle, isAnswered: false });
      const text = session.voice.question(session, id, ask);
      if (text === undefined) {
        session.asks?.delete(id);
        return reject(noWay("the client did not declare that it can be asked this"));
      }
      signal.addEventListener("abort", withdraw, { once: true });
      this.#push(session, { type: "ask", text, key: `ask ${id}` });
    });
  }

  #sweepOnce(): void {
    this.#sweep = undefined;
    this.#endIdle();
    if (this.#sessions.size > 0) this.#sweepLater();
  }

  #sweepLater(): void {
    this.#sweep = this.#options.timers.after(this.#sweepMs, () => this.#sweepOnce());
  }

  get #sweepMs(): number {
    return Math.min(this.#options.idleMs ?? IDLE_MS, SWEEP_MS);
  }

  #endIdle(): void {
    const now = this.#options.clock.now();
    const { idleMs = IDLE_MS, maxAgeMs = Number.POSITIVE_INFINITY } = this.#options;
    for (const session of this.#sessions.values()) {
      // Its call may end right after this look at it, and only then does its idle time begin.
      if (session.isBusy) session.lastUsed = now + this.#sweepMs;
      const isIdle = now - session.lastUsed >= idleMs;
      if (isIdle || now - session.startedAt >= maxAgeMs) this.end(session, "the session expired");
    }
  }

  /** Ends every session. Safe to call twice. */
  close(): void {
    this.#sweep?.cancel();
    this.#sweep = undefined;
    for (const session of [...this.#sessions.values()]) this.end(session, "the gateway is shutting down");
  }
}

function noWay(message: string): GatewayError {
  return new GatewayError("NOT_ALLOWED", { message: `The client cannot be asked: ${message}.` });
}

export function createSessions(options: SessionsOptions): SessionRegistry {
  return new SessionRegistry(options);
}
