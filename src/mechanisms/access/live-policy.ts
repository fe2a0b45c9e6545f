/**
 * What operators have set while the gateway runs, as this process knows it. All of it is in memory: whoever decides about a call
 * asks nobody. A change that another process has made is here as soon as its message is, and without one after the next look.
 */
import { createHash } from "node:crypto";
import {
  type AuditEvent,
  type AuditTrail,
  type Channel,
  DEFAULT_TENANT,
  GatewayError,
  type Log,
  type Policy,
  type PolicyChange,
  type PolicyEntry,
  type PolicyRows,
  type Timer,
  type Timers,
  Turns,
} from "../../contract/index.ts";
import { ANY } from "./policy.ts";

export type LivePolicyOptions = {
  readonly rows: PolicyRows;
  readonly timers: Timers;
  readonly log: Log;
  /** Where other processes hear of changes; unset: there are none. */
  readonly channel?: Channel | undefined;
};

/** What is to be changed, and who says so. */
export type PolicyEdit = {
  readonly trail: AuditTrail;
  readonly event: AuditEvent;
  readonly changes: readonly PolicyChange[];
  /** Throws where it cannot be made; unset: nothing has to be looked at. */
  readonly check?: (() => void) | undefined;
  /** Those of one turn are checked and made one after another here, so that each is checked with the former in force. */
  readonly turn?: string | undefined;
  /** What the caller takes to be the version. Another one: CONFLICT, and nothing is changed. */
  readonly ifVersion?: number | undefined;
};

type Kind = PolicyEntry["kind"];

/** With the time that a look takes, a lost message delays a change by less than 5 s. */
const LOOK_EVERY_MS = 4_000;
const TOPIC = "policy";
const NONE: readonly PolicyEntry[] = [];

export class LivePolicy {
  readonly #options: LivePolicyOptions;
  readonly #listeners = new Set<() => void>();
  #policy: Policy = { version: 0, entries: NONE };
  /** By tenant; of the present policy. */
  readonly #versions = new Map<string, string>();
  #byKind: ReadonlyMap<Kind, readonly PolicyEntry[]> = new Map();
  readonly #turns = new Turns();
  #looking: Promise<void> | undefined;
  #isWanted = false;
  #timer: Timer | undefined;
  #stopHearing: (() => Promise<void>) | undefined;
  #isStale = false;
  #isClosed = false;

  constructor(options: LivePolicyOptions) {
    this.#options = options;
  }

  /** Grows with every change that anybody makes to any of it. */
  get version(): number {
    return this.#policy.version;
  }

  /**
   * Stands for all that is said to callers of a tenant: by the platform, and by their own. It is the same in each process that knows the
   * same, and no other tenant can make it another one.
   */
  versionFor(tenant: string): string {
    const known = this.#versions.get(tenant);
    if (known !== undefined) return known;
    const isMeant = (entry: PolicyEntry) => [DEFAULT_TENANT, ANY, tenant].includes(entry.tenant);
    const said = this.#policy.entries.filter(isMeant).map((entry) => JSON.stringify(factsOf(entry)));
    const version = createHash("sha256").update(said.sort().join("\n")).digest("base64url").slice(0, 22);
    this.#versions.set(tenant, version);
    return version;
  }

  entries(kind: Kind): readonly PolicyEntry[] {
    return this.#byKind.get(kind) ?? NONE;
  }

  /** Tells after each change. Gives back how to stop. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves when all of it is here. Rejects with STATE_UNAVAILABLE: nobody may be served without it. */
  async open(): Promise<void> {
    const { channel, rows } = this.#options;
    this.#take(await rows.load());
    this.#stopHearing = await channel?.subscribe(TOPIC, () => void this.refresh());
    this.#lookLater();
  }

  /** Looks whether there is a newer version. Never rejects: while the store is away, what was known last stays in force. */
  refresh(): Promise<void> {
    // A look that is under way may have read before the change: another one follows it.
    this.#isWanted = true;
    this.#looking ??= this.#lookWhileWanted().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Resolves when what is here is what the store has now. Rejects with STATE_UNAVAILABLE where that cannot be said. */
  async catchUp(): Promise<void> {
    await this.refresh();
    if (this.#isStale) throw new GatewayError("STATE_UNAVAILABLE");
  }

  /** Writes changes with the record of them, and resolves to the new version when they are in force here. */
  async change(edit: PolicyEdit): Promise<number> {
    const { turn } = edit;
    return turn === undefined ? this.#change(edit) : this.#turns.take(turn, () => this.#change(edit));
  }

  async #change({ trail, event, changes, ifVersion, check }: PolicyEdit): Promise<number> {
    check?.();
    // The first change makes a new version: the others would not find the one that was meant.
    const guarded = changes.map((change, place) =>
      place === 0 && ifVersion !== undefined ? { ...change, ifVersion } : change,
    );
    if (!(await trail.commit(event, guarded))) {
      await this.refresh();
      throw new GatewayError("CONFLICT", {
        message: "The policy has changed meanwhile. Read it again and repeat the change.",
        details: { version: this.version },
      });
    }
    this.#options.channel?.publish(TOPIC, "");
    await this.refresh();
    return this.version;
  }

  async #lookWhileWanted(): Promise<void> {
    while (this.#isWanted && !this.#isClosed) {
      this.#isWanted = false;
      await this.#look();
    }
  }

  async #look(): Promise<void> {
    const { rows, log } = this.#options;
    try {
      if ((await rows.version()) !== this.version) this.#take(await rows.load());
      this.#isStale = false;
    } catch (cause) {
      if (!this.#isStale) log.warn("policy cannot be read, the last known one stays in force", { cause });
      this.#isStale = true;
    }
  }

  #take(policy: Policy): void {
    this.#policy = { ...policy, entries: sameWhereEqual(policy.entries, this.#policy.entries) };
    this.#versions.clear();
    this.#byKind = Map.groupBy(this.#policy.entries, ({ kind }) => kind);
    for (const listener of this.#listeners) listener();
  }

  #lookLater(): void {
    if (this.#isClosed) return;
    this.#timer = this.#options.timers.after(LOOK_EVERY_MS, () => {
      void this.refresh().then(() => this.#lookLater());
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#listeners.clear();
    await this.#stopHearing?.().catch(() => undefined);
    await this.#looking;
  }
}

/** What was read of a row that stays as it is need not be read again: it stays the same object. */
function sameWhereEqual(now: readonly PolicyEntry[], before: readonly PolicyEntry[]): readonly PolicyEntry[] {
  const known = new Map(before.map((entry) => [JSON.stringify(factsOf(entry)), entry]));
  return now.map((entry) => known.get(JSON.stringify(factsOf(entry))) ?? entry);
}

function factsOf({ tenant, kind, key, value, updatedAt, updatedBy }: PolicyEntry): readonly unknown[] {
  return [tenant, kind, key, value, updatedAt, updatedBy];
}
