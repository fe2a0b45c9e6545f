/** A limit as it is applied: which calls it is for, and what they take. */
import { createHash } from "node:crypto";
import {
  type CallerNames,
  DEFAULT_TENANT,
  type Debit,
  type Identity,
  type LimitLevel,
  matchesPattern,
  type SlotClaim,
  type Target,
} from "../../contract/index.ts";
import { CountedPattern } from "../access/index.ts";
import { type LimitEntry, levelOf } from "./limit-entry.ts";
import type { LimitedTarget, LimitPattern } from "./limited-target.ts";

/** Whom a call is by, and in which session it was made; unset: in none that lasts. */
export type LimitCaller = { readonly identity: Identity; readonly session: string | undefined };

const DAY_MS = 86_400_000;
/** A budget must outlive whoever might try to wait for its end; one of a session, the session. */
const BUDGET_TTL_MS = 400 * DAY_MS;
const SESSION_BUDGET_TTL_MS = 2 * DAY_MS;
const LEAST_TTL_MS = 1_000;

type Holder = Pick<CallerNames, "user" | "client">;
type Bucketed = Holder & { readonly tenant: string; readonly session: string | undefined };

export class LimitRule {
  readonly level: LimitLevel;
  readonly #entry: LimitEntry;
  /** Names it in every process and after every restart, as long as it says the same. */
  readonly #name: string;
  #pattern: LimitPattern | undefined;

  constructor(entry: LimitEntry, name: string) {
    this.#entry = entry;
    this.#name = name;
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

  reaches(wanted: LimitedTarget): boolean {
    const { server = "*", primitive = "*" } = this.#entry.selector;
    if (!matchesPattern(server, wanted.target.provider)) return false;
    if (primitive === "*") return true;
    this.#pattern ??= { written: primitive, counted: new CountedPattern(primitive) };
    return wanted.fits(this.#pattern, server !== "*");
  }

  isFor(identity: Identity): boolean {
    const { selector, owner } = this.#entry;
    const { tenant } = identity;
    const isOfTenant = (owner === undefined || owner === tenant) && matchesPattern(selector.tenant ?? "*", tenant);
    return isOfTenant && this.#holders(identity).length > 0;
  }

  /** Whose buckets a caller takes from: what somebody who is named has made takes from theirs, too. */
  #holders(identity: Identity): readonly Holder[] {
    const { selector, isOwn = false } = this.#entry;
    const { user = "*", client = "*" } = selector;
    const namesSomebody = user !== "*" || client !== "*";
    // What a tenant says of whoever made a token is about them alone.
    const makers = namesSomebody && !isOwn ? (identity.makerNames ?? []) : [];
    return [identity, ...makers].filter((one) => matchesPattern(user, one.user) && matchesPattern(client, one.client));
  }

  debits(target: Target, caller: LimitCaller): Debit[] {
    const { level } = this;
    const { rate, budget, isOwn = false } = this.#entry;
    const keys = (kind: string) => this.#keys(kind, target, caller);
    const { tenant } = caller.identity;
    const whose = tenant === DEFAULT_TENANT ? {} : { tenant: hashOf(tenant), isOwn };
    const found: Debit[] = [];
    if (rate !== undefined) {
      const ttlMs = Math.max(LEAST_TTL_MS, Math.ceil((rate.capacity * rate.periodMs) / rate.refill));
      for (const key of keys(`rate/${rate.periodMs}`)) found.push({ key, level, ...rate, ttlMs, ...whose });
    }
    if (budget !== undefined) {
      const ttlMs = this.isPerSession ? SESSION_BUDGET_TTL_MS : BUDGET_TTL_MS;
      const counted = { capacity: budget, refill: 0, periodMs: 1, ttlMs, isOfSession: this.isPerSession };
      for (const key of keys("budget")) found.push({ key, level, ...counted, ...whose });
    }
    return found;
  }

  slots(target: Target, caller: LimitCaller): SlotClaim[] {
    const { concurrency } = this.#entry;
    if (concurrency === undefined) return [];
    return this.#keys("places", target, caller).map((key) => ({ key, level: this.level, max: concurrency }));
  }

  /** Each once. Hashed: nothing that a caller can choose stands in the name of anything in a store. */
  #keys(kind: string, target: Target, { identity, session }: LimitCaller): readonly string[] {
    const { tenant } = identity;
    const keyOf = ({ user, client }: Holder) => this.#key(kind, target, { tenant, user, client, session });
    return [...new Set(this.#holders(identity).map(keyOf))];
  }

  #key(kind: string, target: Target, { tenant, user, client, session }: Bucketed): string {
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
export function createRules(entries: readonly LimitEntry[]): LimitRule[] {
  const seen = new Map<string, number>();
  return entries.map((entry) => {
    const { tenant = "*", server = "*", primitive = "*", user = "*", client = "*" } = entry.selector;
    // Not what it allows: whoever raises a limit does not give back what was taken.
    const said = JSON.stringify([
      entry.owner ?? null,
      tenant,
      server,
      primitive,
      user,
      client,
      entry.per.toSorted(),
      // However many a tenant sets beside it, what the platform has set for them keeps its name.
      ...(entry.isOwn ? ["own"] : []),
    ]);
    const place = seen.get(said) ?? 0;
    seen.set(said, place + 1);
    return new LimitRule(entry, hashOf(`${said}${place}`));
  });
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 27);
}
