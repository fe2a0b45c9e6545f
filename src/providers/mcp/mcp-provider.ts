/**
 * An MCP server as a provider: chooses the upstream session of each call and starts the call on it. Sessions themselves
 * live in session-slot.ts, what happens to a call in running-call.ts.
 */
import {
  type ByteBudget,
  type Call,
  type CallReply,
  type Clock,
  type CredentialHolder,
  type Departure,
  FlightTable,
  GatewayError,
  type Host,
  type ListedKind,
  type Log,
  type Meter,
  type Out,
  type Payload,
  type Provider,
  type Scope,
  type SessionRef,
  type Slices,
  type Timer,
  type Timers,
  type UpstreamCredentials,
  type UpstreamMemory,
} from "../../contract/index.ts";
import { notificationText } from "../../wire/jsonrpc/index.ts";
import { revision20260728 } from "../../wire/mcp/2026-07-28/index.ts";
import { ROOTS_CHANGED } from "../../wire/mcp/index.ts";
import { ClientNotices } from "./client-notices.ts";
import { ClientSlots, type OfClient } from "./client-slots.ts";
import { isConsentRequired } from "./consent-question.ts";
import { createTransports, type Transports } from "./create-transports.ts";
import { Declarations } from "./declarations.ts";
import { apart, authorizationOf, isApart, onUnavailable, startAllowed } from "./guarded-server.ts";
import type { SocketBound, SocketOpener } from "./http/index.ts";
import { Leases } from "./leases.ts";
import { ListMemory } from "./list-memory.ts";
import type { McpConfig } from "./mcp-config.ts";
import { checkEra } from "./modern/era-check.ts";
import { Eras } from "./modern/eras.ts";
import { OwnLists } from "./own-lists.ts";
import { RepeatedWarning } from "./repeated-warning.ts";
import { RunningCall, type RunningCallEvents } from "./running-call.ts";
import type { MemoOptions } from "./session-memo.ts";
import { SessionSlot, type SlotOptions } from "./session-slot.ts";
import type { Watchdog } from "./stdio/index.ts";
import type { HearProgram } from "./stdio-transport.ts";
import { subscribe } from "./subscribing.ts";
import { within } from "./within.ts";

export type McpDeps = {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly slices: Slices;
  /** Of the messages that the process holds; without it, it has no end. */
  readonly budget?: ByteBudget;
  /** Of what servers list for single clients; without it, that has no end. */
  readonly ownLists?: ByteBudget;
  readonly log: Log;
  readonly meter: Meter;
  /** What a child inherits is taken from here. */
  readonly parentEnv: Readonly<Record<string, string | undefined>>;
  /** One for the whole gateway: ends the children of a gateway that was killed. */
  readonly watchdog: Watchdog;
  /** Hears what programs write to standard error, for operators; without it only the log does. */
  readonly hearProgram?: HearProgram | undefined;
  /** Where upstream sessions of clients are remembered, for processes that go on with them; without it they end with this one. */
  readonly memory?: UpstreamMemory | undefined;
  /** Opens the sockets to a server that is reached by HTTP; without it they are plain ones to its URL. */
  readonly connect?: SocketOpener | undefined;
  /** Of the sockets to all servers together; without it there is none but those of each server. */
  readonly sockets?: SocketBound | undefined;
  /** False: the shared session lives in another process, and only sessions of single clients are opened here. */
  readonly hasShared?: boolean;
  /** Whose tokens the server gets; without it only what its headers say. */
  readonly credentials?: UpstreamCredentials | undefined;
  /** What the shared session calls itself towards servers. */
  readonly version?: string;
  /** True: what is reached by HTTP is the process of ours in which the server runs. */
  readonly isHome?: boolean;
  /** How a gateway behind us is told which of our callers a call is of; without it, it is not. */
  readonly requester?: ((call: Call) => string) | undefined;
};

const CLIENT_IDLE_MS = 10 * 60_000;
const MAX_SWEEP_MS = 30_000;
/** How long a call waits for a session that is being opened: of the shared one, and of the client's own. */
const SHARED_PATIENCE_MS = 5000;
const CLIENT_PATIENCE_MS = 30_000;
const CLOSE_MS = 10_000;

/** Whether this client has a child process of its own, where the server is a child process. */
export function hasOwnChild(config: McpConfig, session: SessionRef | undefined): boolean {
  if (!session || session.isEphemeral || session.isPeer || config.sessions === "shared") return false;
  return config.sessions === "per-client" || session.canBeAsked;
}

/** A client's words outside any call. A server that hears of other roots asks for them. */
function tell(slot: SessionSlot, session: SessionRef, method: string, input: Payload): void {
  const say = async () =>
    slot.ready?.send(notificationText(method, slot.tasks.towardsServer(input, session.principal)));
  if (method === ROOTS_CHANGED) slot.rootsPace.take(() => void say());
  else slot.notices.take(session, say);
}

export function mcpProvider(config: McpConfig, deps: McpDeps): Provider {
  return new McpProvider(config, deps);
}

class McpProvider implements Provider {
  readonly id: string;
  readonly #config: McpConfig;
  readonly #deps: McpDeps;
  readonly #log: Log;
  readonly #unserved: RepeatedWarning;
  readonly #transports: Transports;
  readonly #eras: Eras;
  readonly #declarations: Declarations;
  readonly #notices: ClientNotices;
  readonly #running = new FlightTable<RunningCall>();
  /** Which slot runs which task, by the gateway's id. */
  readonly #taskSlots = new Map<string, SessionSlot>();
  readonly #clients: ClientSlots;
  readonly #leases: Leases;
  readonly #lists: Omit<SlotOptions["lists"], "memory">;
  #host: Host | undefined;
  #shared: SessionSlot | undefined;
  #sweeper: Timer | undefined;
  #eraCheck: Promise<void> | undefined;
  #unsubscribe: (() => void) | undefined;
  #isClosed = false;

  constructor(config: McpConfig, deps: McpDeps) {
    this.id = config.id;
    this.#config = config;
    this.#deps = deps;
    this.#log = deps.log.child({ provider: config.id });
    this.#notices = new ClientNotices({ ...deps, log: this.#log });
    this.#unserved = new RepeatedWarning(this.#log, deps.clock, "no upstream session for a client");
    this.#transports = createTransports(config, { ...deps, log: this.#log });
    this.#eras = new Eras(config.era ?? "auto", deps.clock);
    this.#declarations = new Declarations(
      new RepeatedWarning(this.#log, deps.clock, "instructions of the server cut: they are too long"),
    );
    const bounds = { entries: config.maxEntries, bytes: config.maxList };
    this.#lists = { slices: deps.slices, bounds, listTtlMs: config.listTtl };
    const ownLists = deps.ownLists && new OwnLists(deps.ownLists, config.id);
    this.#clients = new ClientSlots({
      create: (client, own) => this.#createSlot(client, own),
      createLists: () => new ListMemory(ownLists),
      clock: deps.clock,
      max: config.maxSessions,
      onGone: ({ id }) => void this.#host?.offer(`session:${id}`, []),
    });
    this.#leases = new Leases({ timers: deps.timers, addSpare: (first) => this.#clients.addSpare(first) });
  }

  async open(host: Host, signal: AbortSignal): Promise<void> {
    this.#host = host;
    signal.addEventListener("abort", () => void this.close(), { once: true });
    host.state({ status: "starting" });
    const shared = this.#createSlot();
    this.#shared = shared;
    this.#unsubscribe = this.#deps.credentials?.onGranted((isFor) => this.#onGranted(isFor));
    this.#scheduleSweep();
    if (this.#deps.hasShared === false) return;
    // A failed opening is told by `state`; what happens next is up to the slot.
    await shared.open().then(
      () => shared.listed(),
      () => undefined,
    );
    if (this.#isSpare && shared.isIdle) void shared.sleep();
  }

  #onGranted(isFor: (holder: CredentialHolder) => boolean): void {
    for (const slot of [this.#shared, ...this.#clients.all]) {
      if (slot?.consent && isFor(slot.consent.holder)) slot.onGranted();
    }
  }

  /** The shared session is a process that only lists: all clients that call have one of their own. */
  get #isSpare(): boolean {
    return this.#config.transport === "stdio" && this.#config.sessions === "per-client";
  }

  #createSlot(client?: SessionRef, { lists = new ListMemory(), spareOf }: Partial<OfClient> = {}): SessionSlot {
    const host = this.#host;
    if (!host) throw new GatewayError("NOT_READY");
    const { clock, timers, meter, version = "0" } = this.#deps;
    const authorization = authorizationOf(this.#deps.credentials, client);
    return new SessionSlot({
      provider: this.id,
      gatewayVersion: version,
      isHome: this.#deps.isHome === true,
      requester: this.#deps.requester,
      client,
      spareOf,
      memo: client && !spareOf ? this.#memoOf(client) : undefined,
      host,
      clock,
      timers,
      meter,
      eras: this.#eras,
      declarations: this.#declarations,
      leases: this.#leases,
      notices: this.#notices,
      log: this.#log,
      makesTasks: this.#config.task === "auto",
      isKept: client === undefined && this.#config.restart === "on-failure",
      lists: { ...this.#lists, memory: lists },
      patienceMs: client ? CLIENT_PATIENCE_MS : SHARED_PATIENCE_MS,
      authorization,
      isGuarded: this.#deps.credentials !== undefined,
      createTransport: () => this.#transports.create(authorization, client?.principal),
      isOtherWorthTrying: (failure) => this.#transports.isOtherWorthTrying(failure),
      onTask: (id, slot) => this.#taskSlots.set(id, slot),
      onTaskGone: (id) => this.#taskSlots.delete(id),
      onState: (state) => {
        if (!client && !this.#isClosed) host.state(state);
      },
      onDoubt: () => {
        if (this.#config.transport !== "stdio") void this.#shared?.look();
      },
    });
  }

  /** A client of 2026-07-28 has no session that could move. */
  #memoOf(client: SessionRef): MemoOptions | undefined {
    const { memory, timers } = this.#deps;
    const { url, transport } = this.#config;
    if (!memory || url === undefined || transport !== "http" || client.protocol === revision20260728.version)
      return undefined;
    return { memory, provider: this.id, url, client, timers, log: this.#log };
  }

  readonly run = (call: Call, out: Out): Promise<void> => {
    const running = new RunningCall(call, out, this.#events);
    running.key = this.#running.add(running);
    try {
      this.#dispatch(call, running);
    } catch (error) {
      running.fail(GatewayError.from(error));
    }
    return running.settled;
  };

  readonly #events: RunningCallEvents = {
    settled: (running) => {
      if (this.#leases.isActive) this.#leases.settled(running);
    },
    letGo: (running) => void this.#running.delete(running.key),
  };

  #dispatch(call: Call, running: RunningCall): void {
    const slot = this.#slotOf(call);
    if (this.#leases.isActive) this.#leases.place(running, slot, this.#startOn);
    else this.#startOn(slot, running);
  }

  readonly #startOn = (slot: SessionSlot, running: RunningCall): void => {
    const { call } = running;
    slot.requesters.note(call);
    slot.lastUsed = this.#deps.clock.now();
    const { ready } = slot;
    if (call.verb === "subscribe") subscribe(call, slot, running);
    else if (slot.wantsConsent) startAllowed(slot, running);
    else if (ready) running.start(ready);
    else
      slot.acquire(call.deadline).then(
        (session) => running.start(session),
        (error) => onUnavailable(slot, running, error),
      );
  };

  #slotOf(call: Call): SessionSlot {
    const taskSlot = call.resumes === undefined ? undefined : this.#taskSlots.get(call.resumes);
    return taskSlot ?? this.#slotOfSession(call.session, call.principal);
  }

  #slotOfSession(session: SessionRef | undefined, principal = session?.principal): SessionSlot {
    const shared = this.#shared;
    if (!shared || this.#isClosed) throw new GatewayError("NOT_READY");
    if (principal && isApart(this.#deps.credentials, principal)) return this.#clients.take(apart(session, principal));
    return session && this.#hasOwnSession(session, shared) ? this.#clients.take(session) : shared;
  }

  #hasOwnSession(session: SessionRef, shared: SessionSlot): boolean {
    if (session.isEphemeral || session.isPeer || this.#config.sessions === "shared") return false;
    return this.#config.sessions === "per-client" || shared.issuesSessions || this.#canBeAsked(session, shared);
  }

  /** A client of 2025 decides for itself what to expect of a server that cannot connect answers with its questions. */
  #canBeAsked(session: SessionRef, shared: SessionSlot): boolean {
    return session.canBeAsked && (shared.canAsk || session.protocol !== revision20260728.version);
  }

  reply(callId: string, reply: CallReply): void {
    // Answers and cancels are rare, calls are not: looking for the call here is cheaper than keeping an index of them.
    for (const running of this.#running.values()) {
      if (running.call.id !== callId) continue;
      if (reply.type === "cancel") this.#leases.cancelling(running);
      running.reply(reply);
    }
  }

  async scope(session: SessionRef): Promise<Scope> {
    try {
      const slot = this.#slotOfSession(session);
      if (!slot.client) return "shared";
      await slot.acquire(Number.POSITIVE_INFINITY);
      await slot.listed();
      return slot.scope;
    } catch (error) {
      if (isConsentRequired(error)) return `session:${session.id}`;
      // Better the list that everybody sees than none; calls will say what is wrong.
      this.#unserved.note({ session: session.id, cause: error });
      return "shared";
    }
  }

  notify(session: SessionRef, method: string, input: Payload): void {
    const own = this.#clients.get(session.id);
    if (method === "logging/setLevel") this.#setLevel(session, input);
    else if (own?.ready?.modern) this.#notifyModern(own, session, method, input);
    else if (own) for (const slot of [own, ...own.spares]) tell(slot, session, method, input);
  }

  /** Servers of 2026-07-28 ask for roots when they want them: that those have changed means nothing to them. */
  #notifyModern(own: SessionSlot, session: SessionRef, method: string, input: Payload): void {
    if (method !== ROOTS_CHANGED) own.notices.take(session, async () => own.ready?.modern?.notify(method, input));
  }

  #setLevel(session: SessionRef, input: Payload): void {
    const shared = this.#shared;
    if (!shared || session.isEphemeral) return;
    try {
      const slot = this.#slotOfSession(session);
      slot.levels.want(session.id, input);
      for (const { ready, levels } of [slot, ...slot.spares]) if (ready) levels.apply(ready);
      slot.onWish();
    } catch (error) {
      this.#log.debug("log level not kept", { session: session.id, cause: error });
    }
  }

  refresh(session: SessionRef | undefined, kind: ListedKind): void {
    const slot = (session && this.#clients.get(session.id)) ?? this.#shared;
    slot?.refresh(kind);
  }

  upstreamCount(): number {
    return (this.#shared?.ready ? 1 : 0) + this.#clients.openCount;
  }

  release(session: SessionRef, reason: Departure = "ended"): void {
    const shared = this.#shared;
    if (!shared) return;
    if (reason === "ended") this.#endFormer(session, shared);
    if (reason === "ended") this.#deps.credentials?.release(session.id);
    this.#clients.release(session, reason);
    shared.levels.drop(session.id);
    const dropped = shared.subscriptions.dropSession(session.id);
    if (!shared.ready) return;
    if (dropped.length > 0) shared.subscriptions.forget(dropped, shared.ready);
    shared.levels.apply(shared.ready);
  }

  /** A session that came from another process may be over before anything was done in it here. */
  #endFormer(session: SessionRef, shared: SessionSlot): void {
    if (this.#clients.get(session.id) || this.#isClosed || !this.#hasOwnSession(session, shared)) return;
    if (this.#memoOf(session)) void this.#createSlot(session).close();
  }

  #scheduleSweep(): void {
    const { idle = CLIENT_IDLE_MS } = this.#config;
    this.#sweeper = this.#deps.timers.after(Math.min(idle / 4, MAX_SWEEP_MS), () => {
      this.#sweep(idle);
      if (!this.#isClosed) this.#scheduleSweep();
    });
  }

  #sweep(idleMs: number): void {
    const now = this.#deps.clock.now();
    this.#clients.sweep(idleMs);
    this.#shared?.tasks.sweep(now);
    const shared = this.#shared;
    if (shared?.ready && this.#config.transport === "http" && this.#eras.isExpired) this.#checkEra(shared);
    if (!shared?.ready) return;
    if (this.#config.idle === undefined && !this.#isSpare) {
      // One that may go to sleep would be kept awake by this.
      if (this.#config.transport !== "stdio" && !shared.ready.hears) void shared.look();
    } else if (shared.isIdle && now - shared.lastUsed >= idleMs) void shared.sleep();
  }

  #checkEra(shared: SessionSlot): void {
    this.#eraCheck ??= checkEra(
      shared,
      this.#transports.create(authorizationOf(this.#deps.credentials, undefined)),
    ).finally(() => {
      this.#eraCheck = undefined;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe?.();
    this.#sweeper?.cancel();
    this.#unserved.end();
    await within(this.#deps.timers, CLOSE_MS, Promise.all([this.#shared?.close(), this.#clients.close()]));
    for (const running of this.#running.values()) {
      if (running.isSettled) running.letGo();
      else running.fail(new GatewayError("CANCELLED", { message: "The gateway is closing." }));
    }
    this.#transports.close();
  }
}
