/** Every client session of the process, and how the kernel reaches clients outside calls. */
import { randomBytes, randomUUID } from "node:crypto";
import {
  type Answer,
  type Ask,
  type Clock,
  type Departure,
  finish,
  GatewayError,
  LISTED_KINDS,
  type Log,
  type Meter,
  type Notice,
  type Payload,
  type Principal,
  payload,
  type SessionRef,
  type Sessions,
  type SharedState,
  type Slices,
  type Timer,
  type Timers,
} from "../../contract/index.ts";
import { Budget } from "./budget.ts";
import { createInterner } from "./intern.ts";
import { type Located, Locator, type Rebuilding, type Residents } from "./locator.ts";
import { Notices } from "./notices.ts";
import { type Outbox, type OutboxLimits, OutboxTotal } from "./outbox.ts";
import { askSession, noWay } from "./questions.ts";
import { rebuildSession } from "./rebuild.ts";
import { Session, type SessionOpening, type Subscription } from "./session.ts";
import { SessionKeeper, type Wanted } from "./session-keeper.ts";
import { declaredBy } from "./session-record.ts";
import { Shares } from "./shares.ts";
import { Subscribers } from "./subscribers.ts";

export type SessionsOptions = {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
  /** A session that nobody uses this long is ended. */
  readonly idleMs?: number;
  /** Ended after this time however busy it is, unless no client was told its id. */
  readonly maxAgeMs?: number;
  readonly maxSessions?: number;
  /** How much all of them may keep of what their clients said. */
  readonly maxKeptBytes?: number;
  /** How much of what their clients have not got. */
  readonly maxOutboxBytes?: number;
  readonly slices?: Slices;
  readonly outbox?: OutboxLimits;
  /** Where sessions outlive this process, and how it is known there; unset: they end with it. */
  readonly shared?: { readonly state: SharedState; readonly member: () => string; readonly isAlone?: boolean };
};

const SWEEP_MS = 60_000;
const IDLE_MS = 30 * 60_000;
const MAX_AGE_MS = 24 * 3_600_000;
/** An entry is written at most this often only because its session is used. */
const LAG_MS = 30_000;
const LOOKS_PER_LAG = 4;
const MAX_SESSIONS = 100_000;
/** What one takes beside what its client declared. */
const SESSION_BYTES = 2048;
const MAX_KEPT_BYTES = 256 * 1024 * 1024;
const MAX_OUTBOX_BYTES = 128 * 1024 * 1024;
const OUTBOX: OutboxLimits = { maxItems: 1000, maxBytes: 4 * 1024 * 1024 };

const AT_ONCE: Slices = { run: (steps) => finish(steps) };

export class SessionRegistry implements Sessions {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, Session>();
  /** Those that are being taken over. */
  readonly #entering = new Set<Session>();
  readonly #subscribers: Subscribers;
  readonly #budget: Budget;
  readonly #notices: Notices;
  readonly #outboxLimits: OutboxLimits;
  readonly #maxSessions: number;
  readonly #shares: Shares;
  readonly #keeper: SessionKeeper | undefined;
  readonly #locator: Locator | undefined;
  #sweep: Timer | undefined;
  #refresh: Timer | undefined;
  /** Keeps one copy of equal texts; see `createInterner`. */
  readonly intern: (text: string) => Payload = createInterner();

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#outboxLimits = {
      ...(options.outbox ?? OUTBOX),
      total: new OutboxTotal(options.maxOutboxBytes ?? MAX_OUTBOX_BYTES),
    };
    this.#maxSessions = options.maxSessions ?? MAX_SESSIONS;
    this.#shares = new Shares(this.#maxSessions);
    this.#budget = new Budget(options.maxKeptBytes ?? MAX_KEPT_BYTES);
    this.#subscribers = new Subscribers(this.#budget);
    this.#notices = new Notices({
      sessions: this.#sessions,
      subscribers: this.#subscribers,
      outboxOf: (session) => this.outboxOf(session),
      meter: options.meter,
      log: options.log,
      slices: options.slices ?? AT_ONCE,
    });
    const { shared, clock, idleMs = IDLE_MS, maxAgeMs = MAX_AGE_MS } = options;
    this.#keeper =
      shared &&
      new SessionKeeper({
        ...shared,
        clock,
        idleMs,
        maxAgeMs,
        lagMs: this.#lagMs,
        outbox: this.#outboxLimits,
        onTaken: (session) => this.#forget(session),
      });
    this.#locator = this.#keeper && new Locator(this.#keeper, this.#residents(this.#keeper));
  }

  /** Sessions may be at home in other processes. */
  get isShared(): boolean {
    return this.#keeper !== undefined;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Throws OVERLOADED at the bound, and where one caller has its share of it. */
  create(opening: SessionOpening): Session {
    this.#makeRoom(opening.principal, keptBytes(opening));
    const session = new Session(newId(), opening, this.#options.clock.now(), false);
    this.#add(session);
    return session;
  }

  #makeRoom(principal: Principal, bytes: number): void {
    if (this.#sessions.size >= this.#maxSessions || !this.#budget.hasRoom(principal, bytes)) this.#endIdle();
    if (this.#sessions.size >= this.#maxSessions) {
      throw new GatewayError("OVERLOADED", { message: "The gateway has as many sessions as it can hold." });
    }
    if (this.#shares.isSpent(principal)) {
      const message = "This caller has as many sessions as one may have here; end some, or wait until idle ones end.";
      throw new GatewayError("OVERLOADED", { message });
    }
    if (!this.#budget.hasRoom(principal, bytes)) {
      const message =
        "Sessions keep as much of what clients declared as fits here, or as one caller may have; end some, declare less, or wait until idle ones end.";
      throw new GatewayError("OVERLOADED", { message });
    }
  }

  #add(session: Session): void {
    this.#sessions.set(session.id, session);
    this.#shares.take(session.principal);
    this.#budget.take(session.principal, keptBytes(session));
    if (!this.#sweep) this.#sweepLater();
    if (this.#keeper && !this.#refresh) this.#refreshLater();
  }

  /** Resolves when other processes can find the session: its client may be told. Rejects with STATE_UNAVAILABLE. */
  async keep(session: Session): Promise<void> {
    if (!session.isUnnamed) await this.#keeper?.create(session);
  }

  /** Resolves when what the session is now is durable. Undefined: there is nothing to wait for. Rejects as `keep` does. */
  save(session: Session): Promise<void> | undefined {
    return session.kept && this.#keeper?.save(session);
  }

  /** Finds a session that is not known here. Takes it over when its home is gone. Rejects with STATE_UNAVAILABLE. */
  async locate(wanted: Wanted, rebuilding: Rebuilding): Promise<Located> {
    if (!this.#locator) return { type: "nowhere" };
    const located = await this.#locator.locate(wanted, rebuilding);
    // Whoever waited with others may have another proof than the one who asked first.
    if (located.type === "here") this.find(wanted.id, wanted.principal);
    return located;
  }

  #residents(keeper: SessionKeeper): Residents {
    const { clock, meter, log } = this.#options;
    return {
      find: ({ id, principal }) => this.find(id, principal),
      rebuild: (wanted, claimed, voice) => {
        this.#makeRoom(wanted.principal, keptBytes(declaredBy(claimed.record)));
        const [now, outbox] = [clock.now(), this.#outboxLimits];
        const session = rebuildSession(wanted, claimed, { keeper, voice, intern: this.intern, now, outbox, meter });
        this.#entering.add(session);
        return session;
      },
      admit: (session, { record, fence }) => {
        this.#entering.delete(session);
        this.#add(session);
        for (const subscription of record.subscriptions) this.subscribe(session, subscription);
        log.info("session taken over", { session: session.id, fence });
        // Lists may have changed while nobody was there to tell.
        this.notice({ from: "", to: { catalog: LISTED_KINDS, session: session.id }, method: "", payload: payload("") });
      },
      forget: (session) => {
        this.#entering.delete(session);
        this.#forget(session);
      },
    };
  }

  /** A session for one request: nothing can be asked or pushed, nothing remembers it. */
  ephemeral(opening: SessionOpening): Session {
    return new Session(randomUUID(), opening, this.#options.clock.now(), true);
  }

  /** Undefined for an id that is unknown, expired, or somebody else's. Counts as use, and as proof of who uses it. */
  find(id: string, principal: Principal): Session | undefined {
    const session = this.#sessions.get(id);
    if (!session || session.principal.id !== principal.id) return undefined;
    if (session.principal !== principal) session.principal = principal;
    session.lastUsed = this.#options.clock.now();
    return session;
  }

  /** Cancels what runs, refuses what was asked, ends the stream. Safe to call twice. */
  end(session: Session, reason = "the session is over"): void {
    if (session.isEnded) return;
    const dropping = this.#keeper?.drop(session);
    // What cannot be dropped now expires.
    dropping?.catch(() => undefined);
    this.#letGo(session, reason, "ended");
  }

  /** Ends it, and resolves when it is over for every process. Rejects with STATE_UNAVAILABLE: then it is not over. */
  async finish(session: Session, reason: string): Promise<void> {
    await this.#keeper?.drop(session);
    this.#letGo(session, reason, "ended");
  }

  /** Another process has it: its streams are closed here, and nothing is said. */
  #forget(session: Session): void {
    this.#letGo(session, "the session moved to another process", "moved");
  }

  /** This process was taken for dead: its sessions are others' to claim. */
  forgetAll(): void {
    for (const session of [...this.#sessions.values()]) if (session.kept) this.#forget(session);
  }

  #letGo(session: Session, reason: string, departure: Departure): void {
    if (session.isEnded) return;
    session.isEnded = true;
    session.kept?.stopHearing();
    void session.kept?.writer?.stop();
    session.kept = undefined;
    if (this.#sessions.get(session.id) === session) {
      this.#sessions.delete(session.id);
      this.#shares.giveBack(session.principal);
      this.#budget.giveBack(session.principal, keptBytes(session));
    }
    this.#subscribers.removeAll(session);
    for (const call of session.takeRunning()) {
      if (departure === "moved" && call.lose) call.lose(reason);
      else call.abandon(reason);
    }
    for (const ask of [...(session.asks?.values() ?? [])]) ask.settle?.(noWay(reason));
    session.asks = undefined;
    session.outbox?.end();
    session.voice.ended(session, departure);
  }

  /** Ends those whose catalog is gone. */
  endIn(isGone: (catalog: string) => boolean, reason: string): void {
    for (const session of [...this.#sessions.values()]) if (isGone(session.catalog)) this.end(session, reason);
  }

  /** Those that are known here. */
  list(): Session[] {
    return [...this.#sessions.values()];
  }

  /** Ends those that are meant. */
  endWhere(isMeant: (session: Session) => boolean, reason: string): void {
    for (const session of [...this.#sessions.values(), ...this.#entering]) {
      if (isMeant(session)) this.end(session, reason);
    }
  }

  outboxOf(session: Session): Outbox {
    if (session.outbox) return session.outbox;
    const outbox = session.openOutbox(this.#outboxLimits, this.#options.meter);
    this.#keeper?.follow(session, outbox);
    return outbox;
  }

  /** Whether the session, and its caller, may have these subscriptions, too. */
  hasRoomFor(session: Session, wanted: readonly Subscription[]): boolean {
    return this.#subscribers.hasRoomFor(session, wanted);
  }

  /** False when the session had it already. */
  subscribe(session: Session, subscription: Subscription): boolean {
    return !session.isEnded && this.#subscribers.add(session, subscription);
  }

  /** False when the session had none. */
  unsubscribe(session: Session, subscription: Subscription): boolean {
    return this.#subscribers.remove(session, subscription);
  }

  /** What clients want to hear about, as it stands now. */
  subscriptions(): { session: Session; subscription: Subscription }[] {
    return [...this.#sessions.values()].flatMap((session) =>
      [...(session.subscriptions?.values() ?? [])].map((subscription) => ({ session, subscription })),
    );
  }

  notice(notice: Notice): void {
    this.#notices.give(notice);
  }

  ask(ref: SessionRef, ask: Ask, signal: AbortSignal): Promise<Answer> {
    const session = this.#sessions.get(ref.id);
    if (!session || session.isEphemeral) return Promise.reject(noWay("there is no way to ask this client"));
    return askSession(session, () => this.outboxOf(session), ask, signal);
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
    const { idleMs = IDLE_MS, maxAgeMs = MAX_AGE_MS } = this.#options;
    for (const session of this.#sessions.values()) {
      // Its call may end right after this look at it, and only then does its idle time begin.
      if (session.isBusy) session.lastUsed = now + this.#sweepMs;
      const isIdle = now - session.lastUsed >= idleMs;
      if (isIdle || (!session.isUnnamed && now - session.startedAt >= maxAgeMs))
        this.end(session, "the session expired");
    }
  }

  get #lagMs(): number {
    return Math.min((this.#options.idleMs ?? IDLE_MS) / 10, LAG_MS);
  }

  #refreshLater(): void {
    // Often, so that not all are written at once.
    this.#refresh = this.#options.timers.after(this.#lagMs / LOOKS_PER_LAG, () => {
      this.#refresh = undefined;
      for (const session of this.#sessions.values()) this.#keeper?.refresh(session);
      if (this.#sessions.size > 0) this.#refreshLater();
    });
  }

  /** Lets other processes go on with a session, and forgets it here. Rejects with STATE_UNAVAILABLE: it stays then. */
  async release(session: Session): Promise<void> {
    await this.#keeper?.release(session);
    if (session.kept) this.#forget(session);
  }

  /** Lets other processes go on with the sessions in which nothing runs. */
  async releaseIdle(): Promise<void> {
    const idle = [...this.#sessions.values()].filter((session) => session.kept && !session.hasRunning);
    await Promise.allSettled(idle.map((session) => this.release(session)));
  }

  /** Resolves when everything that another process should know of these sessions is on its way no more. */
  async flush(): Promise<void> {
    const kept = [...this.#sessions.values()].filter((session) => session.kept);
    await Promise.allSettled(
      kept.flatMap((session) => [this.#keeper?.save(session, true), session.kept?.writer?.flush()]),
    );
  }

  /** Ends every session, but for those that others can go on with. Safe to call twice. */
  close(): void {
    this.#sweep?.cancel();
    this.#refresh?.cancel();
    this.#sweep = undefined;
    this.#refresh = undefined;
    this.forgetAll();
    for (const session of [...this.#sessions.values()]) this.end(session, "the gateway is shutting down");
  }
}

/** Of what its client declared; equal texts may be kept once. */
function keptBytes({ capabilities, clientInfo }: Pick<SessionOpening, "capabilities" | "clientInfo">): number {
  return SESSION_BYTES + capabilities.text.length + clientInfo.text.length;
}

/** Looks like a UUID, but every one of its 128 bits is random. */
function newId(): string {
  return randomBytes(16)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

export function createSessions(options: SessionsOptions): SessionRegistry {
  return new SessionRegistry(options);
}
