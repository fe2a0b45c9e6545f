/**
 * Homes of what lives in one process and is wanted by all: a shared child process, say. Every process that wants it tries to
 * be its home; the first one is, until it goes. Each learns of changes by a word on the channel, or by looking again at
 * a third of the lease.
 */
import {
  faultPoint,
  type Log,
  type Member,
  type OwnedEntry,
  type SharedState,
  type Timer,
  type Timers,
} from "../../contract/index.ts";
import type { OwnMembership } from "./membership.ts";

/** nobody: there is none, or we cannot know. */
export type HomeState = "mine" | "nobody" | { readonly elsewhere: Member };

export type HomesOptions = {
  readonly state: SharedState;
  readonly membership: OwnMembership;
  readonly timers: Timers;
  readonly log: Log;
};

/**
 * Hears where the home is, and each change of it. What it returns is waited for before a home is given up in good order, so
 * that the next one does not begin before this one has ended.
 */
export type HomeListener = (home: HomeState) => void | Promise<void>;

export interface Homes {
  /** Stopped with the function it returns, which gives up the home if it is ours. */
  watch(key: string, onChange: HomeListener): () => Promise<void>;
  /**
   * Gives up homes and wants no more, for a drain: each only if `isFree` says, in the very moment in which it is given up, that
   * nobody uses it. The others go on. Safe to call again.
   */
  leave(isFree: () => boolean): Promise<void>;
}

/** An entry outlives its owner by this much; the owner refreshes it whenever it looks. */
const TTL_MS = 24 * 60 * 60 * 1000;

export function createHomes(options: HomesOptions): Homes {
  const watches = new Set<HomeWatch>();
  return {
    watch(key, onChange) {
      const watch = new HomeWatch(key, onChange, options);
      watches.add(watch);
      return async () => {
        watches.delete(watch);
        await watch.stop();
      };
    },
    async leave(isFree) {
      await Promise.all([...watches].map(async (watch) => (await watch.leave(isFree)) && watches.delete(watch)));
    },
  };
}

// Invariants:
//  1. At most one look is under way; a wish for another one meanwhile is kept in `#isWanted`.
//  2. `#home` is what the listener was told last; it is told only of changes.
class HomeWatch {
  readonly #key: string;
  readonly #onChange: HomeListener;
  readonly #options: HomesOptions;
  readonly #ends: (() => void)[];
  readonly #hearing: Promise<(() => Promise<void>) | undefined>;
  #home: HomeState = "nobody";
  /** Over when the listener has done what it was told last; never fails. */
  #heard: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #isWanted = false;
  #isStopped = false;
  #timer: Timer | undefined;

  constructor(key: string, onChange: HomeListener, options: HomesOptions) {
    this.#key = `home:${key}`;
    this.#onChange = onChange;
    this.#options = options;
    const { membership, state, log } = options;
    this.#ends = [membership.onLost(() => this.#set("nobody")), membership.onJoined(() => this.#look())];
    this.#hearing = state.channel
      .subscribe(this.#key, () => this.#look())
      .catch((cause) => {
        log.debug("homes are only looked for", { key, cause });
        return undefined;
      });
    this.#look();
  }

  /** As `stop`, unless it is in use. True: it is over. */
  async leave(isFree: () => boolean): Promise<boolean> {
    do await this.#looking;
    while (this.#looking !== undefined);
    // From here to where the listener hears of it nothing else can begin: nothing is waited for, not even what is over.
    if (!isFree()) return false;
    await this.stop();
    return true;
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#timer?.cancel();
    for (const end of this.#ends) end();
    if (this.#looking !== undefined) await this.#looking;
    const wasMine = this.#home === "mine";
    this.#set("nobody");
    if (wasMine) await this.#giveUp();
    const stopHearing = await this.#hearing;
    await stopHearing?.().catch(() => {});
  }

  async #giveUp(): Promise<void> {
    const { state, membership, log } = this.#options;
    try {
      await this.#heard;
      faultPoint("home.drop.before");
      await state.entries.drop(this.#key, membership.self.id);
      faultPoint("home.drop.after");
      state.channel.publish(this.#key, "free");
    } catch (cause) {
      log.warn("home not given up", { key: this.#key, cause });
    }
  }

  #look(): void {
    this.#isWanted = true;
    this.#looking ??= this.#lookOn().finally(() => {
      this.#looking = undefined;
    });
  }

  async #lookOn(): Promise<void> {
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false;
      await this.#lookOnce();
    }
    if (this.#isStopped) return;
    const { timers, membership } = this.#options;
    this.#timer?.cancel();
    this.#timer = timers.after(membership.leaseMs / 3, () => this.#look());
  }

  async #lookOnce(): Promise<void> {
    const { state, membership, log } = this.#options;
    // What was ours may still be ending: two of it must never run.
    await this.#heard;
    if (!membership.isValid() || this.#isStopped) return;
    const { id } = membership.self;
    try {
      if (this.#home === "mine" && (await state.entries.touch(this.#key, id, TTL_MS))) return;
      faultPoint("home.claim.before");
      const entry = await state.entries.claim(this.#key, id, { value: "", ttlMs: TTL_MS });
      faultPoint("home.claim.after");
      if (membership.isValid() && membership.self.id === id) this.#take(entry, id);
    } catch (cause) {
      log.debug("home not looked for", { key: this.#key, cause }); // what was known stays true until our lease ends
    }
  }

  #take(entry: OwnedEntry | undefined, id: string): void {
    const isNew = this.#home !== "mine";
    if (entry?.owner === id) this.#set("mine");
    else this.#set(entry?.home ? { elsewhere: entry.home } : "nobody");
    if (isNew && this.#home === "mine") this.#options.state.channel.publish(this.#key, "taken");
  }

  #set(home: HomeState): void {
    if (nameOf(home) === nameOf(this.#home)) return;
    this.#home = home;
    this.#heard = this.#tell(home);
  }

  async #tell(home: HomeState): Promise<void> {
    try {
      await this.#onChange(home);
    } catch (cause) {
      this.#options.log.error("listener failed", { key: this.#key, cause });
    }
  }
}

function nameOf(home: HomeState): string {
  return typeof home === "string" ? home : `elsewhere ${home.elsewhere.id}`;
}
