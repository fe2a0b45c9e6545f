/** When each list was last read, and until when it may be believed of a server that does not tell of changes. */
import { type ListedKind, type Offer, type Payload, payload } from "../../contract/index.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** However little a server believes in its own lists. */
const MIN_TTL_MS = 1_000;
/** A list that could not be read is asked for again sooner: there may be nothing to show until then. */
const FAILED_TTL_MS = 5_000;

/** Under which capability a server says that it tells of changes. */
const CAPABILITIES = {
  tool: "tools",
  prompt: "prompts",
  resource: "resources",
  template: "resources",
} as const satisfies Record<ListedKind, string>;

export class ListAges {
  readonly #ttlMs: number;
  readonly #freshUntil = new Map<ListedKind, number>();
  /** Lists that could not be read. */
  readonly failed = new Set<ListedKind>();

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  /** These are being read, and count as failed until they are. */
  reading(kinds: readonly ListedKind[], now: number): void {
    for (const kind of kinds) {
      this.failed.add(kind);
      this.#freshUntil.set(kind, now + Math.max(Math.min(this.#ttlMs, FAILED_TTL_MS), MIN_TTL_MS));
    }
  }

  /** The server may say itself how long its lists are good for; only less than we would believe them. */
  read(offers: readonly Offer[], now: number): void {
    for (const { kind, extras } of offers) {
      const own = extras.includes('"ttlMs"') ? Number(payload(`{${extras}}`).at(["ttlMs"])) : Number.NaN;
      const ttlMs = Number.isFinite(own) ? Math.min(own, this.#ttlMs) : this.#ttlMs;
      this.failed.delete(kind);
      this.#freshUntil.set(kind, now + Math.max(ttlMs, MIN_TTL_MS));
    }
  }

  isStale(kind: ListedKind, now: number): boolean {
    return now >= (this.#freshUntil.get(kind) ?? Number.POSITIVE_INFINITY);
  }
}

/** Whether we hear of it when a list of this kind changes. */
export function tellsChanges(session: UpstreamSession, kind: ListedKind): boolean {
  const capabilities: Payload | undefined = session.agreement?.capabilities;
  if (capabilities?.at([CAPABILITIES[kind], "listChanged"]) !== "true") return false;
  return session.hears;
}
