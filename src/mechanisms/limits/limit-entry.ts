/** One limit as an operator writes it, wherever that is, in its one internal form. */
import { LIMIT_LEVELS, type LimitLevel } from "../../contract/index.ts";

/** Patterns in which `*` stands for any text. What is left out is for all. */
export type LimitSelector = {
  readonly tenant?: string | undefined;
  readonly server?: string | undefined;
  /** `<server>.<name>`, or the name alone where a server is named, too. */
  readonly primitive?: string | undefined;
  readonly user?: string | undefined;
  readonly client?: string | undefined;
};

/** What a bucket can be split by: one for each that there is. */
export const LIMIT_PER = ["user", "client", "tenant", "server", "primitive", "session"] as const;
export type LimitPer = (typeof LIMIT_PER)[number];

/** `refill` tokens come back in each `periodMs`. */
export type LimitRate = { readonly capacity: number; readonly refill: number; readonly periodMs: number };

export type LimitEntry = {
  /** The tenant in whose own list it stands: it is for nobody else. Unset: it stands in the config. */
  readonly owner?: string | undefined;
  /** Its owner has set it, and not the platform for them. Default false. */
  readonly isOwn?: boolean | undefined;
  readonly selector: LimitSelector;
  readonly per: readonly LimitPer[];
  readonly rate?: LimitRate | undefined;
  /** How many run at once. */
  readonly concurrency?: number | undefined;
  /** How many there are at all. */
  readonly budget?: number | undefined;
};

/** Beyond these nobody needs a limit, and numbers would not be exact any more. */
export const MAX_CAPACITY = 100_000_000;
export const MAX_CONCURRENCY = 100_000;
/** In a list. */
export const MAX_ENTRIES = 1_000;
export const MAX_PATTERN = 512;

const PERIODS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const REFILL = /^(\d{1,9})(?:\.(\d{1,3}))?\/([smhd])$/;

/** "100/s", "0.5/m"; undefined for anything else, and for nothing at all. As whole numbers. */
export function parseRefill(text: string): Omit<LimitRate, "capacity"> | undefined {
  const [, whole = "", decimals = "", unit = ""] = REFILL.exec(text) ?? [];
  const factor = 10 ** decimals.length;
  const refill = Number(whole) * factor + Number(decimals);
  const periodMs = (PERIODS[unit] ?? 0) * factor;
  return refill > 0 && periodMs > 0 ? { refill, periodMs } : undefined;
}

/** Whether a bucket of this size can be counted exactly. */
export function isExact({ capacity, refill, periodMs }: LimitRate): boolean {
  return Number.isSafeInteger((capacity + 1) * periodMs) && Number.isSafeInteger(refill * periodMs);
}

/** What it is about: the most special thing that it names. A session is a client's. */
export function levelOf({ owner, selector, per }: LimitEntry): LimitLevel {
  const names = (level: LimitLevel): boolean => {
    if (level === "global") return true;
    if (level === "tenant" && owner !== undefined) return true;
    if (level === "client" && per.includes("session")) return true;
    return (selector[level] ?? "*") !== "*" || per.includes(level);
  };
  // Whoever limits a server within a tenant means the server.
  const order: readonly LimitLevel[] = ["primitive", "user", "client", "server", "tenant", "global"];
  return order.find(names) ?? "global";
}

export function compareLevels(one: LimitLevel, other: LimitLevel): number {
  return LIMIT_LEVELS.indexOf(one) - LIMIT_LEVELS.indexOf(other);
}
