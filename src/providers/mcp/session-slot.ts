/**
 * The place of one upstream session: the shared one, or one client's. Opens a session when it is needed, one at a time,
 * and another when that one is lost; keeps what must outlive them: tasks, subscriptions, the log level.
 */
import {
  type Clock,
  GatewayError,
  type Host,
  type ListedKind,
  type Log,
  type Meter,
  type ProviderState,
  type Scope,
  type SessionRef,
  type Timer,
  type Timers,
} from "../../contract/index.ts";
import type { Authorization } from "./authorized-client.ts";
import type { ClientNotices } from "./client-notices.ts";
import type { ConsentSurroundings } from "./consent-question.ts";
import type { Declarations } from "./declarations.ts";
import type { FormerSession } from "./former-session.ts";
import type { Leases } from "./leases.ts";
import { LogLevels } from "./log-levels.ts";
import { failureOf, isTrouble, OPEN_STATUS } from "./mcp-errors.ts";
import type { Eras } from "./modern/eras.ts";
import { Offering, type OfferingOptions } from "./offering.ts";
import { Pace } from "./pace.ts";
import { LateAnswer } from "./pending-answer.ts";
import { RepeatedWarning } from "./repeated-warning.ts";
import { Requesters } from "./requesters.ts";
import { Backoff } from "./restart.ts";
import { type MemoOptions, SessionMemo } from "./session-memo.ts";
import { SIGN_IN_ABOUT, SIGN_IN_OFFER, signInMessage } from "./sign-in.ts";
import { Subscriptions } from "./subscriptions.ts";
import { TaskTable } from "./task-table.ts";
import { TaskTools } from "./tasks/task-tools.ts";
import { type UpstreamFailure, UpstreamFault, type UpstreamTransport } from "./transport.ts";
import { type SessionContext, UpstreamSession } from "./upstream-session.ts";
import { within } from "./within.ts";

export type SlotOptions = {
  readonly provider: string;
  readonly gatewayVersion: string;
  readonly isHome: boolean;
  readonly requester: SessionContext["requester"];
  readonly client: SessionRef | undefined;
  /** The client's first slot, where this is one more: that one alone is listed. */
  readonly spareOf: SessionSlot | undefined;
  /** Where its session is remembered for other processes; undefined where it is not. */
  readonly memo: MemoOptions | undefined;
  readonly host: Host;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
  readonly eras: Eras;
  readonly declarations: Declarations;
  readonly leases: Leases;
  readonly notices: ClientNotices;
  /** Calls that take long may become tasks of the gateway. */
  readonly makesTasks: boolean;
  /** Opened again by itself after it was lost. */
  readonly isKept: boolean;
  /** How its lists are read. */
  readonly lists: Pick<OfferingOptions, "slices" | "bounds" | "listTtlMs" | "memory">;
  /** How long a call waits for a session, at most. */
  readonly patienceMs: number;
  /** As whom the server is called, where it wants to know. */
  readonly authorization: Authorization | undefined;
  /** The server wants credentials, also of those of whom we have none. */
  readonly isGuarded: boolean;
  createTransport(): UpstreamTransport;
  /** True: another kind of transport may reach the server, so it is worth another try at once. */
  isOtherWorthTrying(failure: UpstreamFailure): boolean;
  onTask(id: string, slot: SessionSlot): void;
  onTaskGone(id: string): void;
  onState(state: ProviderState): void;
  /** In a client's own session: the server may be away for everybody. */
  onDoubt(): void;
};

// Invariants:
//  1. At most one of `ready` and `#opening` is set.
//  2. A session that is neither `ready` nor being opened is closed, or closes with its last request.
export class SessionSlot implements SessionContext {
  readonly tasks: TaskTable;
  readonly taskTools: TaskTools;
  readonly requesters = new Requesters();
  readonly subscriptions = new Subscriptions();
  readonly levels: LogLevels;
  /** Of the client's words that its roots have changed. */
  readonly rootsPace: Pace;
  /** Further slots of the same client. */
  readonly spares: SessionSlot[] = [];
  readonly provider: string;
  readonly gatewayVersion: string;
  readonly isHome: boolean;
  readonly requester: SessionContext["requester"];
  readonly client: SessionRef | undefined;
  readonly host: Host;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly warnings: SessionContext["warnings"];
  readonly meter: Meter;
  readonly eras: Eras;
  readonly declarations: Declarations;
  readonly leases: Leases;
  readonly notices: ClientNotices;
  readonly consent: ConsentSurroundings | undefined;
  /** Nobody has allowed us to use the server: all it has to offer is a way to do so. */
  wantsConsent = false;
  /** The session that takes calls now. */
  ready: UpstreamSession | undefined;
  lastUsed: number;
  heldCalls = 0;
  issuesSessions = false;
  /** The server has a way to ask, as far as is known. */
  canAsk = true;
  isClosed = false;
  readonly #options: SlotOptions;
  readonly #backoff = new Backoff();
  readonly #offering: Offering;
  readonly #memo: SessionMemo | undefined;
  readonly #leaving = new Set<UpstreamSession>();
  #opening: Promise<UpstreamSession> | undefined;
  /** The session in its handshake. */
  #candidate: UpstreamSession | undefined;
  #pause: { readonly timer: Timer; readonly end: () => void } | undefined;
  #lastFailure: UpstreamFailure | undefined;
  #isLooking = false;
  /** False: the last session was asked for its era and was silent ever after, so the next one is not asked. */
  #asksEra = true;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.tasks = new TaskTable(
      (task) => options.onTask(task.id, this),
      (task) => options.onTaskGone(task.id),
    );
    this.provider = options.provider;
    this.gatewayVersion = options.gatewayVersion;
    this.isHome = options.isHome;
    this.requester = options.requester;
    this.client = options.client;
    this.host = options.host;
    this.clock = options.clock;
    this.timers = options.timers;
    this.log = options.client ? options.log.child({ session: options.client.id }) : options.log;
    this.warnings = {
      undelivered: new RepeatedWarning(this.log, this.clock, "upstream message not delivered"),
      tooLarge: new RepeatedWarning(this.log, this.clock, "upstream notification too large"),
      batch: new RepeatedWarning(this.log, this.clock, "upstream batch not taken"),
      malformed: new RepeatedWarning(this.log, this.clock, "upstream text is no message", "debug"),
    };
    this.meter = options.meter;
    this.eras = options.eras;
    this.declarations = options.declarations;
    this.leases = options.leases;
    this.notices = options.notices;
    this.consent = options.authorization && { ...options.authorization, timers: options.timers, clock: options.clock };
    this.levels = new LogLevels(new Pace(options), options.spareOf?.levels);
    this.rootsPace = new Pace(options);
    this.taskTools = options.spareOf?.taskTools ?? new TaskTools(options.makesTasks);
    this.lastUsed = options.clock.now();
    this.#memo = options.memo && new SessionMemo(options.memo, this);
    this.#offering = new Offering({
      scope: this.scope,
      host: this.host,
      log: this.log,
      clock: this.clock,
      timers: this.timers,
      ...options.lists,
      taskTools: this.taskTools,
      current: () => this.ready,
      onState: options.onState,
      onTrouble: (session, failure) => {
        if (failure.kind !== "auth" || !this.#options.isGuarded) this.onTrouble(session, failure);
        else if (this.ready === session) this.#offerConsent(failure);
      },
    });
  }

  get scope(): Scope {
    return this.client ? `session:${this.client.id}` : "shared";
  }

  /** Nothing would be lost if its session were closed now. */
  get isIdle(): boolean {
    const isBusy = this.ready?.isQuiet === false || this.heldCalls > 0 || this.#opening !== undefined;
    return !isBusy && this.tasks.size === 0 && this.subscriptions.size === 0;
  }

  /** No call runs in it, and none waits for its session. */
  get isUnused(): boolean {
    return this.#opening === undefined && this.ready?.isQuiet !== false;
  }

  /** The session, opened if need be. Rejects with GatewayError when there is none in time. */
  async acquire(deadline: number): Promise<UpstreamSession> {
    if (this.ready) return this.ready;
    const now = this.clock.now();
    const patience = Math.max(0, Math.min(deadline - now, this.#options.patienceMs));
    const mayOpen = this.client !== undefined || this.#options.isKept || !this.#lastFailure;
    if (this.isClosed || !mayOpen || this.#backoff.notBefore - now > patience) throw this.#unavailable();
    const session = await within(this.timers, patience, this.open());
    if (!session) throw this.#unavailable();
    return session;
  }

  #unavailable(): GatewayError {
    const { message = "The server is still starting.", cause, error } = this.#lastFailure ?? {};
    if (error) return error;
    return new GatewayError("PROVIDER_UNREACHABLE", { message, cause });
  }

  /** Resolves when the server's lists have been offered or have failed once. */
  async listed(): Promise<void> {
    await (this.#options.spareOf?.listed() ?? this.#offering.listed);
  }

  /** Opens a session unless one is there, not before its pause is over. Rejects with GatewayError. */
  open(): Promise<UpstreamSession> {
    if (this.ready) return Promise.resolve(this.ready);
    if (!this.#opening) {
      this.#opening = this.#openNow();
      this.#opening.catch(() => undefined);
    }
    return this.#opening;
  }

  async #openNow(): Promise<UpstreamSession> {
    await this.#waitOut(this.#backoff.notBefore - this.clock.now());
    if (this.isClosed) throw new GatewayError("PROVIDER_UNREACHABLE", { message: "The session was closed." });
    try {
      const session = await this.#openSession();
      this.#opening = undefined;
      this.#candidate = undefined;
      this.#begin(session);
      return session;
    } catch (error) {
      this.#opening = undefined;
      this.#candidate = undefined;
      throw this.#noteFailure(failureOf(error));
    }
  }

  async #openSession(mayAskEra = this.#asksEra): Promise<UpstreamSession> {
    const resumed = await this.#memo?.resume((former) => this.#newSession(former));
    if (resumed) return resumed;
    this.meter.count("isthmus_upstream_starts_total", this.provider);
    const session = this.#newSession();
    this.#asksEra = true;
    try {
      await session.open(mayAskEra);
      await this.#memo?.keep(session);
    } catch (error) {
      // Some servers end when the first message is one they do not know.
      const isLate = error instanceof LateAnswer;
      this.#asksEra = !(session.diesAsked && isLate);
      const endedWhenAsked = session.diesAsked && !isLate && failureOf(error).kind === "lost";
      if (this.isClosed || !(endedWhenAsked || this.#options.isOtherWorthTrying(failureOf(error)))) throw error;
      // When that fails, too, the first reason is the one to tell.
      return await this.#openSession(!endedWhenAsked).catch(() => Promise.reject(error));
    }
    if (session.isOver) throw new UpstreamFault({ kind: "lost", message: "The server ended at once." });
    return session;
  }

  #newSession(former?: FormerSession): UpstreamSession {
    const session = new UpstreamSession(this, this.#options.createTransport(), former);
    this.#candidate = session;
    return session;
  }

  async #waitOut(ms: number): Promise<void> {
    if (ms <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pause = { timer: this.timers.after(ms, resolve), end: resolve };
    await promise;
    this.#pause = undefined;
  }

  #begin(session: UpstreamSession): void {
    this.ready = session;
    this.lastUsed = this.clock.now();
    this.issuesSessions ||= session.transport.issuesSessions;
    this.canAsk = session.transport.canAsk;
    this.#backoff.opened(this.clock.now());
    this.#lastFailure = undefined;
    this.levels.reset(session.former?.level);
    this.levels.apply(session);
    this.#begun();
    if (!session.former) void this.subscriptions.restore(session);
  }

  onHandle(session: UpstreamSession): void {
    if (this.ready === session) this.#memo?.changed();
  }

  /** What its client wants of the session has changed. */
  onWish(): void {
    this.#memo?.changed();
  }

  #noteFailure(failure: UpstreamFailure): GatewayError {
    const former = this.#lastFailure;
    this.#lastFailure = failure;
    if (failure.kind === "auth" && this.#options.isGuarded) {
      this.#offerConsent(failure);
      return this.#unavailable();
    }
    this.#backoff.failed(this.clock.now());
    if (this.isClosed) return this.#unavailable();
    this.#tellFailure(failure, former);
    if (this.client && failure.kind === "unreachable") void this.look();
    this.#offering.tell({ status: OPEN_STATUS[failure.kind], message: failure.message });
    if (this.#options.isKept) this.open().catch(() => undefined);
    return this.#unavailable();
  }

  /** What fails as it failed before is no news; nor is, for a provider whose state is logged, what that says already. */
  #tellFailure({ kind, message, cause }: UpstreamFailure, former: UpstreamFailure | undefined): void {
    const isSame = message === former?.message && String(cause) === String(former.cause);
    const level = isSame || (!this.client && cause === undefined) ? "debug" : "warn";
    // Where in our code it was noticed is nothing to whoever reads the log.
    const why = cause instanceof Error ? cause.message : cause;
    this.log[level]("upstream session failed", { reason: kind, failure: message, cause: why });
  }

  /** Trying again changes nothing until somebody says yes. */
  #offerConsent(failure: UpstreamFailure): void {
    if (this.isClosed) return;
    this.wantsConsent = true;
    this.#lastFailure = failure;
    this.log.info("upstream server must be allowed first");
    void this.host.offer(this.scope, [SIGN_IN_OFFER]);
    this.#offering.tell({ status: "auth_required", message: signInMessage(failure.error), about: SIGN_IN_ABOUT });
  }

  /** Somebody has said yes. */
  onGranted(): void {
    if (!this.wantsConsent || this.isClosed) return;
    if (this.ready) this.#begun();
    else this.open().catch(() => undefined);
  }

  /** The session where we may use the server now. Rejects as `acquire` does. */
  async allowed(deadline: number): Promise<UpstreamSession> {
    const session = await this.acquire(deadline);
    if (!this.wantsConsent) return session;
    this.#begun();
    await this.listed();
    if (this.wantsConsent) throw this.#unavailable();
    return session;
  }

  #begun(): void {
    this.wantsConsent = false;
    if (!this.#options.spareOf) this.#offering.begin();
  }

  onListChanged(kinds: readonly ListedKind[]): void {
    void this.relist(kinds);
  }

  /** Somebody looks at this list. */
  refresh(kind: ListedKind): void {
    this.#offering.refresh(kind);
  }

  relist(kinds: readonly ListedKind[]): Promise<void> {
    return this.#options.spareOf?.relist(kinds) ?? this.#offering.change(kinds);
  }

  onLost(session: UpstreamSession, failure: UpstreamFailure): void {
    if (this.ready !== session) return;
    this.ready = undefined;
    if (failure.kind === "expired") this.#reopen();
    else this.#noteFailure(failure);
  }

  /** Opens another session in place of one that the server has forgotten. */
  #reopen(): void {
    this.#backoff.expired(this.clock.now());
    this.open().catch(() => undefined);
  }

  /** A shared session that cannot be reached is opened anew; a client's own may hold state that a new one would lose. */
  onTrouble(session: UpstreamSession, failure: UpstreamFailure): void {
    if (this.client && failure.kind === "unreachable") void this.look();
    if (this.ready !== session || (failure.kind !== "expired" && !this.#options.isKept)) return;
    this.#leave(session);
    if (failure.kind === "expired") this.#reopen();
    else this.#noteFailure(failure);
  }

  /**
   * A server over HTTP can be away without anybody hearing of it in the shared session, whose state is everybody's: it is
   * asked. A server that is only slow to answer is not away.
   */
  async look(): Promise<void> {
    const session = this.ready;
    if (this.client) return this.#options.onDoubt();
    if (!session || this.#isLooking) return;
    this.#isLooking = true;
    const failure = await session.probe();
    this.#isLooking = false;
    const isAway = failure?.kind === "unreachable" || failure?.kind === "expired";
    if (isAway && isTrouble(failure)) this.onTrouble(session, failure);
  }

  renew(session: UpstreamSession): Promise<UpstreamSession> {
    if (this.ready === session) {
      this.#leave(session);
      this.#reopen();
    }
    return this.acquire(Number.POSITIVE_INFINITY);
  }

  /** Takes no more calls; closes with its last request. */
  #leave(session: UpstreamSession): void {
    this.ready = undefined;
    this.#leaving.add(session);
    this.onIdle(session);
  }

  onIdle(session: UpstreamSession): void {
    this.lastUsed = this.clock.now();
    if (!session.isQuiet || !this.#leaving.delete(session)) return;
    void session.close();
  }

  /** Closes the session and keeps the slot: the next call opens another. */
  async sleep(): Promise<void> {
    const session = this.ready;
    this.ready = undefined;
    await session?.close();
    if (session) await this.#memo?.forget();
  }

  /** Safe to call twice. Resolves when the server has let go. `isKept`: another process goes on with its session, if it can. */
  async close(isKept = false): Promise<void> {
    this.isClosed = true;
    this.#pause?.timer.cancel();
    this.#pause?.end();
    for (const warning of Object.values(this.warnings)) warning.end();
    const left = [...this.#leaving];
    const current = [this.ready, this.#candidate];
    this.ready = undefined;
    this.#leaving.clear();
    const isLeft = isKept && this.#memo !== undefined;
    await Promise.all([...left.map((one) => one.close()), ...current.map((one) => one?.close(isLeft))]);
    await this.#memo?.close(isLeft, () => this.#options.createTransport());
  }
}
