/** Waits for what becomes of approvals, which may be decided in another process: by its words, and by looking now and then. */
import type {
  Approval,
  ApprovalRows,
  ApprovalState,
  CallerConnection,
  Channel,
  Log,
  Timer,
  Timers,
} from "../../contract/index.ts";

const LOOK_MS = 1_000;
const LOOKED_AT_ONCE = 100;
const TOPIC = "approvals";

export type WatchOptions = {
  readonly rows: ApprovalRows;
  /** Unset: there are no other processes. */
  readonly channel?: Channel | undefined;
  readonly timers: Timers;
  readonly log: Log;
};

/** `state`: as it was when somebody began to wait. */
type Watcher = {
  readonly state: ApprovalState;
  readonly isRead: Waiting["isRead"];
  tell(approval: Approval | undefined): void;
};

/** Who waits. `isRead`: of a call, whether anybody is there for its answer. */
export type Waiting = { readonly signal?: AbortSignal; readonly isRead?: (() => boolean) | undefined };

export class ApprovalWatch {
  readonly #options: WatchOptions;
  readonly #watchers = new Map<string, Set<Watcher>>();
  #timer: Timer | undefined;
  #leave: Promise<() => Promise<void>> | undefined;
  #isClosed = false;
  #isLeaving = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** Somebody elsewhere may wait. */
  get hasOthers(): boolean {
    return this.#options.channel !== undefined;
  }

  /** How many here wait for this one. */
  count(id: string): number {
    return this.#watchers.get(id)?.size ?? 0;
  }

  /** Whether callers are there whose calls wait here for this one; undefined: none does. */
  connection(id: string): CallerConnection | undefined {
    const calls = [...(this.#watchers.get(id) ?? [])].filter(({ isRead }) => isRead !== undefined);
    if (calls.length === 0) return undefined;
    return calls.some(({ isRead }) => isRead?.()) ? "open" : "closed";
  }

  /**
   * Resolves with the approval as soon as it is not as it was, or when the time is over, as it is then; undefined where it is
   * gone. Rejects with the signal's reason.
   */
  change(approval: Approval, ms: number, { signal, isRead }: Waiting = {}): Promise<Approval | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Approval | undefined>();
    const { state } = approval;
    const tell: Watcher["tell"] = (seen) => {
      if (seen?.state !== state || this.#isLeaving) resolve(seen);
    };
    const watcher: Watcher = { state, isRead, tell };
    const abort = () => reject(signal?.reason as Error);
    const watchers = this.#watchers.get(approval.id) ?? new Set();
    this.#watchers.set(approval.id, watchers.add(watcher));
    const timer = this.#options.timers.after(Math.max(0, ms), () => resolve(approval));
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    if (this.#isLeaving) resolve(approval);
    this.#listen();
    this.#lookLater();
    return promise.finally(() => {
      timer.cancel();
      signal?.removeEventListener("abort", abort);
      watchers.delete(watcher);
      if (watchers.size === 0) this.#watchers.delete(approval.id);
      if (this.#watchers.size === 0) this.#timer = void this.#timer?.cancel();
    });
  }

  /** It is like this now: tells whoever waits, here and elsewhere. */
  changed(approval: Approval): void {
    this.#tell(approval.id, approval);
    this.#options.channel?.publish(TOPIC, approval.id);
  }

  /** Nobody waits here any longer: each gets what it waits for as it is. */
  leave(): void {
    this.#isLeaving = true;
    void this.#lookAtAll();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    const leave = await this.#leave?.catch(() => undefined);
    await leave?.();
  }

  #tell(id: string, approval: Approval | undefined): void {
    for (const watcher of this.#watchers.get(id) ?? []) watcher.tell(approval);
  }

  #listen(): void {
    const { channel, log } = this.#options;
    if (!channel || this.#leave || this.#isClosed) return;
    this.#leave = channel.subscribe(TOPIC, (id) => {
      if (this.#watchers.has(id)) void this.#look(id);
    });
    this.#leave.catch((cause) => {
      this.#leave = undefined;
      log.warn("decisions of other processes are heard late", { cause });
    });
  }

  #lookLater(): void {
    if (this.#timer || this.#isClosed) return;
    this.#timer = this.#options.timers.after(LOOK_MS, () => {
      this.#timer = undefined;
      void this.#lookAtAll().then(() => {
        if (this.#watchers.size > 0) this.#lookLater();
      });
    });
  }

  /** Whole ones are read only where something has changed: they have the input of the call. */
  async #lookAtAll(): Promise<void> {
    const ids = [...this.#watchers.keys()];
    for (let from = 0; from < ids.length; from += LOOKED_AT_ONCE) {
      const some = ids.slice(from, from + LOOKED_AT_ONCE);
      const states = await this.#options.rows.states(some).catch(() => undefined);
      if (!states) return;
      await Promise.all(some.filter((id) => this.#isNews(id, states.get(id))).map((id) => this.#look(id)));
    }
  }

  #isNews(id: string, state: ApprovalState | undefined): boolean {
    return this.#isLeaving || [...(this.#watchers.get(id) ?? [])].some((watcher) => watcher.state !== state);
  }

  /** A store that does not answer is asked again with the next look. */
  async #look(id: string): Promise<void> {
    try {
      this.#tell(id, await this.#options.rows.get(id));
    } catch {
      // What nobody can read has not changed for us.
    }
  }
}
