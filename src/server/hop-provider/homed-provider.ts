/**
 * A server whose shared instance is a child process, in a gateway of several processes: the instance lives in one of them,
 * its home, and the others reach it there. Instances of single clients live wherever their clients' sessions live.
 */
import {
  type Call,
  type CallReply,
  type Clock,
  type Departure,
  GatewayError,
  type Host,
  type ListedKind,
  type Member,
  type Out,
  type Payload,
  type Provider,
  type Scope,
  type SessionRef,
  type Timers,
} from "../../contract/index.ts";
import type { HomeState, Homes } from "../../mechanisms/cluster/index.ts";
import { clientsHost, sharedHost } from "./part-hosts.ts";
import { WaitingCalls } from "./waiting-calls.ts";
import { Wishes } from "./wishes.ts";

export type HomedOptions = {
  readonly id: string;
  readonly homes: Pick<Homes, "watch">;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Whether the session has an instance of its own. */
  readonly isOwn: (session: SessionRef | undefined) => boolean;
  /** Serves sessions with instances of their own, and opens no other. */
  readonly createClients: () => Provider;
  /** Serves everybody else, with the one instance, in this process. */
  readonly createLocal: () => Provider;
  /** Serves everybody else with the one instance in that process. */
  readonly createRemote: (home: Member) => Provider;
};

/** How long a call, or the start of the gateway, waits for an instance that is on its way from one home to another. */
const PATIENCE_MS = 5000;
const SUBSCRIBE_MS = 30_000;
/** How long a home that was given up has to turn away the calls that were on their way to it. */
const TURN_AWAY_MS = 1000;

export interface HomedProvider extends Provider {
  /** The shared instance is in this process. Where it is not, what others send here for it must not be sent on. */
  readonly isHome: boolean;
}

export function createHomedProvider(options: HomedOptions): HomedProvider {
  return new ProviderWithHome(options);
}

/** One stay of the shared instance, here or elsewhere. */
type Part = {
  readonly provider: Provider;
  readonly abort: AbortController;
  readonly isLocal: boolean;
  /** Calls that were sent to it. */
  readonly sent: Set<Promise<void>>;
};

// Invariants:
//  1. At most one part is open, and the next is made only after the former has closed: two instances never run here.
//  2. `#part` is set exactly while calls may go to it.
class ProviderWithHome implements HomedProvider {
  readonly id: string;
  readonly #options: HomedOptions;
  readonly #clients: Provider;
  readonly #wishes = new Wishes();
  readonly #waiting: WaitingCalls;
  #host: Host | undefined;
  #part: Part | undefined;
  #home: HomeState = "nobody";
  /** What was here, until it is gone. */
  #closing: Promise<void> = Promise.resolve();
  #onOpened: () => void = () => undefined;
  #stopWatch: (() => Promise<void>) | undefined;
  #isClosed = false;

  constructor(options: HomedOptions) {
    this.id = options.id;
    this.#options = options;
    this.#clients = options.createClients();
    this.#waiting = new WaitingCalls(options);
  }

  get isHome(): boolean {
    return this.#home === "mine";
  }

  async open(host: Host, signal: AbortSignal): Promise<void> {
    this.#host = host;
    signal.addEventListener("abort", () => void this.close(), { once: true });
    host.state({ status: "starting" });
    await this.#clients.open(clientsHost(host), signal);
    const { promise: opened, resolve } = Promise.withResolvers<void>();
    const timer = this.#options.timers.after(PATIENCE_MS, resolve);
    this.#onOpened = resolve;
    this.#stopWatch = this.#options.homes.watch(this.id, (home) => this.#onHome(home));
    await opened.finally(() => timer.cancel());
  }

  /** Resolves when what was here is gone: the next home may begin then. */
  #onHome(home: HomeState): Promise<void> {
    this.#home = home;
    const left = this.#part;
    this.#part = undefined;
    if (left) this.#closing = Promise.all([this.#closing, this.#leave(left)]).then(() => undefined);
    void this.#closing.then(() => this.#enter(home)).catch((cause: unknown) => this.#onFailed(home, cause));
    return this.#closing;
  }

  /** Its calls end, by what is known of each. */
  async #leave(part: Part): Promise<void> {
    const { provider, abort } = part;
    if (!this.#isClosed) this.#host?.state({ status: "starting", message: "The server moves to another process." });
    if (!part.isLocal && part.sent.size > 0) await this.#untilTurnedAway(part.sent);
    await provider.close();
    abort.abort();
  }

  /** Word that a home is free can be faster than its answers: calls that it has not looked at are made in the next one. */
  async #untilTurnedAway(sent: ReadonlySet<Promise<void>>): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = this.#options.timers.after(TURN_AWAY_MS, resolve);
    await Promise.race([Promise.allSettled(sent), late]).finally(() => timer.cancel());
  }

  /** There is no way to that home. */
  #onFailed(home: HomeState, cause: unknown): void {
    if (this.#home !== home || this.#isClosed) return;
    this.#host?.state({ status: "unreachable", message: GatewayError.from(cause).message });
    this.#onOpened();
  }

  async #enter(home: HomeState): Promise<void> {
    const { createLocal, createRemote } = this.#options;
    const host = this.#host;
    if (!host || this.#home !== home || home === "nobody" || this.#isClosed) return;
    const provider = home === "mine" ? createLocal() : createRemote(home.elsewhere);
    const part: Part = { provider, abort: new AbortController(), isLocal: home === "mine", sent: new Set() };
    this.#part = part;
    const isCurrent = () => this.#part === part;
    const opened = provider.open(
      sharedHost(host, isCurrent, () => this.#tellWishes(provider)),
      part.abort.signal,
    );
    this.#waiting.letGo(provider);
    await opened;
    if (isCurrent()) this.#onOpened();
  }

  #tellWishes(provider: Provider): void {
    this.#wishes.tell(provider, this.#options.clock.now() + SUBSCRIBE_MS);
  }

  readonly run = (call: Call, out: Out): Promise<void> => {
    if (this.#isClosed) return Promise.reject(new GatewayError("NOT_READY"));
    if (this.#options.isOwn(call.session)) return this.#clients.run(call, out);
    return call.verb === "subscribe" ? this.#subscribe(call, out) : this.#start(call, out);
  };

  #start(call: Call, out: Out): Promise<void> {
    return this.#part ? this.#runIn(this.#part, call, out) : this.#waiting.add(call, out);
  }

  /** What the server would not have is nothing to tell the next instance of. */
  async #subscribe(call: Call, out: Out): Promise<void> {
    let isTaken = call.method === "resources/unsubscribe";
    const watched: Out = {
      ready: () => out.ready(),
      write(event) {
        if (event.type === "end" && event.outcome !== "fault") isTaken = true;
        return out.write(event);
      },
    };
    await this.#start(call, watched);
    if (isTaken) this.#wishes.keep(call);
  }

  /** A home that is gone, or is none any more, has not looked at the call: the next one gets it. */
  async #runIn(part: Part, call: Call, out: Out): Promise<void> {
    const running = part.provider.run(call, out);
    if (!part.isLocal) part.sent.add(running);
    try {
      await running;
    } catch (error) {
      const isUntouched = GatewayError.from(error).code === "PROVIDER_UNREACHABLE";
      if (part.isLocal || !isUntouched || this.#isClosed) throw error;
      const next = this.#part;
      await (next && next !== part ? next.provider.run(call, out) : this.#waiting.add(call, out));
    } finally {
      part.sent.delete(running);
    }
  }

  reply(callId: string, reply: CallReply): void {
    this.#waiting.reply(callId, reply);
    this.#clients.reply(callId, reply);
    this.#part?.provider.reply(callId, reply);
  }

  async scope(session: SessionRef): Promise<Scope> {
    return this.#options.isOwn(session) ? await this.#clients.scope(session) : "shared";
  }

  notify(session: SessionRef, method: string, input: Payload): void {
    if (this.#options.isOwn(session)) return this.#clients.notify(session, method, input);
    if (method === "logging/setLevel") this.#wishes.keepLevel(session, input);
    this.#part?.provider.notify(session, method, input);
  }

  refresh(session: SessionRef | undefined, kind: ListedKind): void {
    const provider = this.#options.isOwn(session) ? this.#clients : this.#part?.provider;
    provider?.refresh?.(session, kind);
  }

  upstreamCount(): number {
    return this.#clients.upstreamCount() + (this.#part?.provider.upstreamCount() ?? 0);
  }

  release(session: SessionRef, reason?: Departure): void {
    this.#wishes.drop(session.id);
    this.#clients.release(session, reason);
    this.#part?.provider.release(session, reason);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.close();
    this.#onOpened();
    // Whoever is the next home hears that we are not when our child has ended, and not before.
    await Promise.all([this.#stopWatch?.(), this.#clients.close()]);
    if (this.#part) void this.#onHome("nobody");
    await this.#closing;
  }
}
