/** The way to the other processes and the door for them, with one key. Loaded only where there are others. */
import type {
  ByteBudget,
  Clock,
  Hop,
  HopEnd,
  HttpRequest,
  HttpResponse,
  Log,
  Member,
  Meter,
  SharedState,
  Timer,
  Timers,
} from "../../contract/index.ts";
import { Forwarding } from "./forwarding.ts";
import { hopKey } from "./hop-key.ts";
import { markHeader, requestHead } from "./hop-lines.ts";
import { answerUnserved, type HopHandler, HopListener, MAX_HOPS } from "./hop-listener.ts";
import { HopPool } from "./hop-pool.ts";
import { createHopOpener, type OpenHopSocket } from "./hop-tls.ts";

export type HopOptions = {
  /** The cluster's, at least 32 bytes. */
  readonly key: string;
  readonly state: SharedState;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
  /** Of the messages that the process holds; unset: it has no end. */
  readonly budget?: ByteBudget;
  /** Who we are now; asked again after each loss of the lease. */
  readonly self: () => Member;
  readonly mayWrite: () => boolean;
  readonly leaseMs: number;
  /** Serves what other processes hand over, as if it had come from the client. */
  readonly onRequest: HopHandler;
  /** Default 2 s. */
  readonly connectTimeoutMs?: number;
  /** To one process; default 10,000: each open stream takes one. */
  readonly maxConnections?: number;
};

export interface OpenHop extends Hop {
  /** Resolves with the port that was taken: the address that others are told needs it. */
  listen(host: string, port: number): Promise<number>;
  /** How to call what lives in that process without a request to hand over. Throws where it cannot be reached. */
  wayTo(home: Member): { readonly connect: OpenHopSocket; readonly headers: Readonly<Record<string, string>> };
  /** Requests that were handed to others and are not answered yet; streams that nobody waits for are not counted. */
  readonly passing: number;
  /** Others are sent elsewhere from now on; what has begun goes on. */
  drain(): void;
  /** Breaks off everything in both directions: our lease is over. Goes on afterwards. */
  cutAll(): void;
  close(): Promise<void>;
}

/** Throws on a key that is too short. Opens nothing before `listen` or `forward`. */
export function createHop(options: HopOptions): OpenHop {
  return new ClusterHop(options);
}

// Invariants:
//  1. A pool is in `#pools` while it has connections or something under way.
//  2. `#watch` is set exactly while there are pools.
class ClusterHop implements OpenHop {
  readonly #options: HopOptions;
  readonly #key: Buffer;
  readonly #listener: HopListener;
  readonly #pools = new Map<string, HopPool>();
  passing = 0;
  #watch: Timer | undefined;
  #isClosed = false;

  constructor(options: HopOptions) {
    this.#options = options;
    this.#key = hopKey(options.key);
    const { clock, timers, log, budget, mayWrite, onRequest, self } = options;
    const selfId = () => self().id;
    this.#listener = new HopListener({ key: this.#key, clock, timers, log, budget, mayWrite, onRequest, selfId });
  }

  get self(): Member {
    return this.#options.self();
  }

  passed(request: HttpRequest): number {
    return this.#listener.passed(request);
  }

  async forward(request: HttpRequest, body: string, response: HttpResponse, to: Member): Promise<HopEnd> {
    const isWaitedFor = request.method !== "GET";
    if (isWaitedFor) this.passing++;
    const end = await this.#forward(request, body, response, to).finally(() => {
      if (isWaitedFor) this.passing--;
    });
    this.#options.meter.count("isthmus_hops_total", end.type);
    return end;
  }

  async #forward(request: HttpRequest, body: string, response: HttpResponse, to: Member): Promise<HopEnd> {
    if (response.isOver) return { type: "answered" };
    const passed = this.passed(request) + 1;
    if (passed > MAX_HOPS) {
      answerUnserved(response, "The processes of the gateway do not agree on where this is served.");
      return { type: "answered" };
    }
    const pool = this.#options.mayWrite() ? this.#poolOf(to) : undefined;
    if (pool === undefined) return { type: "lost", wasSent: false };
    if (pool.isFull) {
      answerUnserved(response, "Too many requests are open between two processes of the gateway.");
      return { type: "answered" };
    }
    const text = requestHead(request, { passed, to: to.id }, body.length) + body;
    return new Promise((resolve) => {
      const forwarding = new Forwarding(response, request.method === "HEAD", resolve);
      forwarding.begin(pool.send(text, forwarding));
    });
  }

  #poolOf(to: Member): HopPool | undefined {
    const known = this.#pools.get(to.id);
    if (known !== undefined || this.#isClosed) return known;
    const { clock, connectTimeoutMs = 2_000, maxConnections = 10_000 } = this.#options;
    const connect = createHopOpener(to.address, this.#key, () => this.self.id);
    if (connect === undefined) {
      this.#options.log.warn("member without a usable address", { member: to.id, address: to.address });
      return undefined;
    }
    const pool = new HopPool({
      connect,
      clock,
      connectTimeoutMs,
      maxConnections,
      onEmpty: () => {
        if (this.#pools.get(to.id) === pool) this.#pools.delete(to.id);
      },
    });
    this.#pools.set(to.id, pool);
    if (this.#watch === undefined) this.#arm();
    return pool;
  }

  /** A machine that has gone says no goodbye: whoever waits for it would wait until TCP gives up. */
  #arm(): void {
    this.#watch = this.#options.timers.after(this.#options.leaseMs / 3, () => {
      this.#watch = undefined;
      for (const [id, pool] of this.#pools) {
        pool.sweep();
        if (pool.isBusy) void this.#checkHome(id, pool);
      }
      if (this.#pools.size > 0) this.#arm();
    });
  }

  async #checkHome(id: string, pool: HopPool): Promise<void> {
    try {
      if ((await this.#options.state.members.find(id)) === undefined) pool.close();
    } catch {
      // Nobody knows: the home may be well although the store is not.
    }
  }

  wayTo(home: Member) {
    const connect = createHopOpener(home.address, this.#key, () => this.self.id);
    if (!connect) throw new Error(`the process ${home.id} has no address`);
    return { connect, headers: markHeader({ passed: 1, to: home.id }) };
  }

  listen(host: string, port: number): Promise<number> {
    return this.#listener.listen(host, port);
  }

  drain(): void {
    this.#listener.drain();
  }

  cutAll(): void {
    for (const pool of [...this.#pools.values()]) pool.close();
    this.#listener.cutAll();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watch?.cancel();
    for (const pool of [...this.#pools.values()]) pool.close();
    await this.#listener.close();
  }
}
