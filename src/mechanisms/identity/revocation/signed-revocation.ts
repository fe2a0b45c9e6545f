/** Revocations that machines send: a JWS of somebody whom the operator trusts with it, so no other credentials are asked for. */
import { type KeyObject, verify } from "node:crypto";
import { GatewayError } from "../../../contract/index.ts";

export type RevocationFeed = {
  readonly id: string;
  readonly keys: readonly KeyObject[];
  /** The tenants it may speak about; "*": all. */
  readonly tenants: readonly string[];
  /** What `aud` must be; unset: anything. */
  readonly audience?: string | undefined;
};

export type SignedRevocation = {
  readonly feed: RevocationFeed;
  /** Not looked into yet. */
  readonly claims: Readonly<Record<string, unknown>>;
};

const TYPE = "isthmus-revocation+jwt";
const PURPOSE = { EdDSA: { type: "ed25519" }, ES256: { type: "ec", curve: "prime256v1" } } as const;
const MAX_AGE_MS = 5 * 60_000;
const MAX_SEEN = 10_000;
const MAX_JWS = 8_192;

/** One for each gateway: it knows which words it has heard. */
export class SignedRevocations {
  readonly #now: () => number;
  readonly #seen = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws NOT_AUTHENTICATED, which says nothing about why. */
  open(jws: string, feeds: readonly RevocationFeed[]): SignedRevocation {
    const read = jws.length <= MAX_JWS ? readJws(jws) : undefined;
    const feed = read && feeds.find(({ keys }) => keys.some((key) => isSignedBy(read, key)));
    if (!read || !feed || !this.#isFresh(read.claims, feed)) throw refused();
    return { feed, claims: read.claims };
  }

  /** Said lately, by its own clock and ours, and not before: an old word must not undo what an operator has unblocked. */
  #isFresh({ iat, jti, aud }: SignedRevocation["claims"], feed: RevocationFeed): boolean {
    if (typeof iat !== "number" || typeof jti !== "string" || jti === "") return false;
    if (feed.audience !== undefined && aud !== feed.audience) return false;
    const now = this.#now();
    if (Math.abs(now - iat * 1000) > MAX_AGE_MS) return false;
    for (const [known, until] of this.#seen) if (until < now) this.#seen.delete(known);
    const word = `${feed.id} ${jti}`;
    if (this.#seen.has(word) || this.#seen.size >= MAX_SEEN) return false;
    this.#seen.set(word, now + 2 * MAX_AGE_MS);
    return true;
  }
}

function refused(): GatewayError {
  return new GatewayError("NOT_AUTHENTICATED", { message: "The signed revocation is not accepted." });
}

type ReadJws = {
  readonly algorithm: keyof typeof PURPOSE;
  readonly signed: Buffer;
  readonly signature: Buffer;
  readonly claims: Readonly<Record<string, unknown>>;
};

function readJws(jws: string): ReadJws | undefined {
  const [head = "", body = "", signature = "", ...more] = jws.split(".");
  const header = objectOf(head);
  const claims = objectOf(body);
  // `crit` names what must be understood, and nothing of it is.
  if (more.length > 0 || !header || !claims || header.typ !== TYPE || header.crit !== undefined) return undefined;
  const { alg } = header;
  if (alg !== "EdDSA" && alg !== "ES256") return undefined;
  const bytes = Buffer.from(signature, "base64url");
  return { algorithm: alg, signed: Buffer.from(`${head}.${body}`, "ascii"), signature: bytes, claims };
}

function objectOf(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The key says which algorithm it is for, never the message alone. */
function isSignedBy({ algorithm, signed, signature }: ReadJws, key: KeyObject): boolean {
  if (key.asymmetricKeyType !== PURPOSE[algorithm].type) return false;
  if (algorithm === "EdDSA") return verify(null, signed, key, signature);
  if (key.asymmetricKeyDetails?.namedCurve !== PURPOSE.ES256.curve) return false;
  return verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, signature);
}
