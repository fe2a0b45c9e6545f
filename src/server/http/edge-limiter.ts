/**
 * Turns away who sends far too much, before anybody has looked at what or who it is. Coarse on purpose: each process counts
 * for itself, and the exact limits are elsewhere.
 */
import { createHash } from "node:crypto";
import { isIPv6 } from "node:net";
import type { Clock, Debit, HttpRequest } from "../../contract/index.ts";
import { oneOfTwins } from "../../mechanisms/identity/token-twin.ts";
import { MemoryCounters } from "../../stores/memory/index.ts";
import type { EdgeConfig } from "../config/limits-config.ts";

/** Of addresses and tokens that are remembered; those that were not seen for longest go first. */
const MAX_BUCKETS = 50_000;
const LEAST_TTL_MS = 1_000;
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

export class EdgeLimiter {
  readonly #counters: MemoryCounters;
  readonly #config: EdgeConfig;
  /** The same head comes with every request of a connection: its token is hashed once. */
  readonly #tokens = new WeakMap<HttpRequest["headers"], string>();

  constructor(config: EdgeConfig, clock: Clock) {
    this.#config = config;
    this.#counters = new MemoryCounters({ clock, isAlive: () => true, maxBuckets: MAX_BUCKETS });
  }

  /** After how many ms the sender may come again; undefined: it may pass. */
  refuse(request: HttpRequest): number | undefined {
    const { address, token } = this.#config;
    const debits: Debit[] = [];
    if (address) debits.push(debitOf(`address/${networkOf(addressOf(request))}`, address));
    const hash = token && this.#tokenOf(request.headers);
    if (token && hash !== undefined) debits.push(debitOf(`token/${hash}`, token));
    return this.#counters.take({ call: "", member: "", debits })?.retryMs;
  }

  /** Never the token itself: what is kept in memory for long must be worth nothing. */
  #tokenOf(headers: HttpRequest["headers"]): string | undefined {
    const { authorization } = headers;
    if (authorization === undefined) return undefined;
    let hash = this.#tokens.get(headers);
    if (hash === undefined) {
      hash = createHash("sha256").update(plainly(authorization), "latin1").digest("base64url").slice(0, 22);
      this.#tokens.set(headers, hash);
    }
    return hash;
  }
}

/** However it is spelled, it is the same: the scheme in any case, blanks of any kind and number, either signature that fits. */
function plainly(authorization: string): string {
  const [scheme = "", ...rest] = authorization.trim().split(/\s+/);
  return [scheme.toLowerCase(), ...rest.map(oneOfTwins)].join(" ");
}

/** Where a request comes from, as far as trusted proxies tell. */
function addressOf({ clientAddress }: HttpRequest): string {
  return clientAddress ?? "";
}

/** Whoever has one address of version 6 has a whole network of them. */
export function networkOf(address: string): string {
  const mapped = MAPPED.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = "", tail = ""] = address.replace(/%.*$/, "").toLowerCase().split("::");
  const before = head.split(":").filter(Boolean);
  const after = tail.split(":").filter(Boolean);
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  const groups = address.includes("::") ? [...before, ...zeros, ...after] : before;
  return `${groups.slice(0, 4).join(":")}::/64`;
}

type Rate = NonNullable<EdgeConfig["address"]>;

function debitOf(key: string, rate: Rate): Debit {
  const ttlMs = Math.max(LEAST_TTL_MS, Math.ceil((rate.capacity * rate.periodMs) / rate.refill));
  return { key, level: "client", ...rate, ttlMs };
}
