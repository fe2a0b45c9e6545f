/** A limit as it is applied: which calls it is for, and what they take. */
import { createHash } from "node:crypto";
import {
  type Debit,
  type Identity,
  type LimitLevel,
  matchesPattern,
  type SlotClaim,
  type Target,
} from "../../contract/index.ts";
import { type LimitEntry, levelOf } from "./limit-entry.ts";

/** Whom a call is by, and in which session it was made; unset: in none that lasts. */
export type LimitCaller = { readonly identity: Identity; readonly session: string | undefined };

/** How a primitive is called in the list of everything. */
export type DottedOf = (target: Target) => string;

const DAY_MS = 86_400_000;
/** A budget must outlive whoever might try to wait for its end; one of a session, the session. */
const BUDGET_TTL_MS = 400 * DAY_MS;
const SESSION_BUDGET_TTL_MS = 2 * DAY_MS;
const LEAST_TTL_MS = 1_000;

export class LimitRule {
  readonly level: LimitLevel;
  readonly #entry: LimitEntry;
  /** Names it in every process and after every restart, as long as it says the same. */
  readonly #name: string;

  readonly #dottedOf: DottedOf;

  constructor(entry: LimitEntry, name: string, dottedOf: DottedOf) {
    this.#entry = entry;
    this.#name = name;
    this.#dottedOf = dottedOf;
    this.level = levelOf(entry);
  }

  get isPerSession(): boolean {
    return this.#entry.per.includes("session");
  }

  /** What of a target its buckets are split by. URIs and methods are the caller's own words: those of a server are one. */
  splitOf({ provider, kind, name }: Target): string {
    const { per } = this.#entry;
    const isListed = kind === "tool" || kind === "prompt" || kind === "agent";
    if (per.includes("primitive")) return JSON.stringify(isListed ? [provider, kind, name] : [provider, kind]);
    return per.includes("server") ? JSON.stringify([provider]) : "";
  }

  reaches(target: Target): boolean {
    const { server = "*", primitive = "*" } = this.#entry.selector;
    if (!matchesPattern(server, target.provider)) return false;
    if (primitive === "*" || matchesPattern(primitive, this.#dottedOf(target))) return true;
    return server !== "*" && matchesPattern(primitive, target.name);
  }

  isFor({ tenant, user, client }: Identity): boolean {
    const { selector, owner } = this.#entry;
    return (
      (owner === undefined || owner === tenant) &&
      matchesPattern(selector.tenant ?? "*", tenant) &&
      matchesPattern(selector.user ?? "*", user) &&
      matchesPattern(selector.client ?? "*", client)
    );
  }

  debits(target: Target, caller: LimitCaller): Debit[] {
    const { level } = this;
    const { rate, budget } = this.#entry;
    const key = (kind: string) => this.#key(kind, target, caller);
    const found: Debit[] = [];
    if (rate !== undefined) {
      const ttlMs = Math.max(LEAST_TTL_MS, Math.ceil((rate.capacity * rate.periodMs) / rate.refill));
      found.push({ key: key(`rate/${rate.periodMs}`), level, ...rate, ttlMs });
    }
    if (budget !== undefined) {
      const ttlMs = this.isPerSession ? SESSION_BUDGET_TTL_MS : BUDGET_TTL_MS;
      const isOfSession = this.isPerSession;
      found.push({ key: key("budget"), level, capacity: budget, refill: 0, periodMs: 1, ttlMs, isOfSession });
    }
    return found;
  }

  slots(target: Target, caller: LimitCaller): SlotClaim[] {
    const { concurrency } = this.#entry;
    if (concurrency === undefined) return [];
    return [{ key: this.#key("places", target, caller), level: this.level, max: concurrency }];
  }

  /** Hashed: nothing that a caller can choose stands in the name of anything in a store. */
  #key(kind: string, target: Target, { identity, session }: LimitCaller): string {
    const { tenant, user, client } = identity;
    const { per } = this.#entry;
    // A program without a user is one by itself.
    const who = per.includes("user") ? [tenant, user, user === "" ? client : ""] : [];
    const parts = [
      this.#name,
      kind,
      this.splitOf(target),
      per.includes("tenant") ? [tenant] : [],
      who,
      per.includes("client") ? [tenant, client] : [],
      this.isPerSession ? (session ?? [tenant, user, client]) : [],
    ];
    return hashOf(JSON.stringify(parts));
  }
}

/** Each under a name of its own: two that are for the same calls are counted apart. */
export function createRules(entries: readonly LimitEntry[], dottedOf: DottedOf): LimitRule[] {
  const seen = new Map<string, number>();
  return entries.map((entry) => {
    const { tenant = "*", server = "*", primitive = "*", user = "*", client = "*" } = entry.selector;
    // Not what it allows: whoever raises a limit does not give back what was taken.
    const said = JSON.stringify([entry.owner ?? null, tenant, server, primitive, user, client, entry.per.toSorted()]);
    const place = seen.get(said) ?? 0;
    seen.set(said, place + 1);
    return new LimitRule(entry, hashOf(`${said}${place}`), dottedOf);
  });
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 27);
}
