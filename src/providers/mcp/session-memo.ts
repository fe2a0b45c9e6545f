/**
 * What of a client's own upstream session outlives this process. It is written when the session has been opened, before
 * any call uses it; what changes later is written behind the calls, a moment after.
 */
import type { Log, SessionRef, Timer, Timers, UpstreamMemory } from "../../contract/index.ts";
import { type FormerSession, type Remembered, readFormer } from "./former-session.ts";
import type { LogLevels } from "./log-levels.ts";
import { resumeSession } from "./resuming.ts";
import type { Subscriptions } from "./subscriptions.ts";
import { UpstreamFault, type UpstreamTransport } from "./transport.ts";
import type { UpstreamSession } from "./upstream-session.ts";

export type MemoOptions = {
  readonly memory: UpstreamMemory;
  readonly provider: string;
  readonly url: string;
  readonly client: SessionRef;
  readonly timers: Timers;
  readonly log: Log;
};

/** What its client wants of the session, whichever session that is. */
export type Wishes = { readonly levels: LogLevels; readonly subscriptions: Subscriptions };

/** Changes that come close together are written together. */
const SOON_MS = 250;
/** Well before the memory would forget it. */
const REFRESH_MS = 15 * 60_000;
const RETRY_MS = 5000;

// Invariants:
//  1. The memory hears one thing at a time, in the order in which it was said here.
//  2. Nothing is written while `#session` is unset.
export class SessionMemo {
  readonly #options: MemoOptions;
  readonly #wishes: Wishes;
  /** What has become of the session that another process may have left is clear. */
  #isSettled = false;
  /** The memory holds something of the session, as far as is known. */
  #hasEntry = false;
  #isClosed = false;
  #session: UpstreamSession | undefined;
  #timer: Timer | undefined;
  #isSoon = false;
  #hasFailed = false;
  #work: Promise<void> = Promise.resolve();

  constructor(options: MemoOptions, wishes: Wishes) {
    this.#options = options;
    this.#wishes = wishes;
  }

  /**
   * Goes on with the session that another process has left. Undefined: there is none, or the server forgot it. Rejects
   * with UpstreamFault where a later try may find out.
   */
  async resume(create: (former: FormerSession) => UpstreamSession): Promise<UpstreamSession | undefined> {
    const former = await this.#recall();
    if (!former) return undefined;
    this.#adopt(former);
    const session = create(former);
    const isKnown = await resumeSession(session);
    if (isKnown && session.isOver) throw new UpstreamFault({ kind: "lost", message: "The session was closed." });
    this.#isSettled = true;
    this.#options.log.debug("upstream session of another process", { isKnown });
    if (!isKnown) return undefined;
    this.#session = session;
    this.#saveIn(REFRESH_MS);
    return session;
  }

  async #recall(): Promise<FormerSession | undefined> {
    if (this.#isSettled) return undefined;
    const { memory, provider, client, url } = this.#options;
    try {
      const recalled = await memory.recall(provider, client.id);
      const former = recalled && readFormer(recalled, url, client.capabilities.text);
      this.#hasEntry = recalled !== undefined;
      this.#isSettled = former === undefined;
      return former;
    } catch (cause) {
      throw new UpstreamFault({ kind: "unreachable", message: "What is known of the session cannot be read.", cause });
    }
  }

  #adopt({ level, uris }: FormerSession): void {
    const { id } = this.#options.client;
    if (level !== undefined) this.#wishes.levels.recall(id, level);
    for (const uri of uris) this.#wishes.subscriptions.hold(uri, id);
  }

  /** This is the session to remember from now on. Resolves when it is durable, or cannot be made so. */
  keep(session: UpstreamSession): Promise<void> {
    this.#session = session;
    return session.transport.handle ? this.#save() : this.#forget();
  }

  /** Something that must be remembered has changed. */
  changed(): void {
    if (!this.#session || this.#isSoon) return;
    this.#isSoon = true;
    this.#saveIn(SOON_MS);
  }

  #saveIn(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.timers.after(ms, () => void this.#save());
  }

  #save(): Promise<void> {
    this.#isSoon = false;
    // Also where nothing changes: the memory counts from the last writing.
    this.#saveIn(REFRESH_MS);
    return this.#enqueue(async () => {
      const state = this.#toRemember();
      if (state === undefined) return;
      const { memory, provider, client, log } = this.#options;
      const isNew = !this.#hasEntry;
      const isOurs = await memory.remember(provider, client.id, state, isNew);
      this.#hasEntry = isOurs;
      this.#hasFailed = false;
      if (isOurs) return;
      log.warn("upstream session not remembered", { reason: "another process has it" });
      this.#stop();
    });
  }

  #toRemember(): string | undefined {
    const { agreement, transport } = this.#session ?? {};
    if (!agreement || !transport?.handle) return undefined;
    const { version, capabilities, instructions, isGateway } = agreement;
    const { url, client } = this.#options;
    const remembered: Remembered = {
      url,
      ...transport.handle,
      version,
      capabilities: capabilities.text,
      instructions,
      isGateway,
      declared: client.capabilities.text,
      level: this.#wishes.levels.lowest,
      uris: [...this.#wishes.subscriptions.uris],
    };
    return JSON.stringify(remembered);
  }

  #enqueue(task: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(task).catch((cause: unknown) => this.#failed(cause));
    return this.#work;
  }

  /** The session is served all the same; it would only not outlive this process. */
  #failed(cause: unknown): void {
    if (!this.#hasFailed) this.#options.log.warn("upstream session not remembered", { cause });
    this.#hasFailed = true;
    if (this.#session && !this.#isSoon) this.#saveIn(RETRY_MS);
  }

  /** The upstream session is over; there may be another. */
  async forget(): Promise<void> {
    this.#stop();
    await this.#forget();
  }

  #forget(): Promise<void> {
    const { memory, provider, client } = this.#options;
    return this.#enqueue(async () => {
      if (this.#hasEntry) await memory.forget(provider, client.id);
      this.#hasEntry = false;
    });
  }

  #stop(): void {
    this.#session = undefined;
    this.#isSoon = false;
    this.#timer?.cancel();
  }

  /** `isLeft`: another process will go on with the session. Otherwise what nobody has taken up is ended. Safe to call twice. */
  async close(isLeft: boolean, createTransport: () => UpstreamTransport): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (isLeft) {
      if (this.#isSoon) await this.#save();
      this.#stop();
    } else if (this.#isSettled) await this.forget();
    else await this.#endFormer(createTransport);
  }

  async #endFormer(createTransport: () => UpstreamTransport): Promise<void> {
    try {
      const former = await this.#recall();
      if (!former) return;
      const transport = createTransport();
      transport.resume?.(former.handle, former.agreement.version);
      await transport.close();
      await this.forget();
    } catch (cause) {
      this.#options.log.warn("upstream session of another process not ended", { cause });
    }
  }
}
