/** Revocations that machines send: a JWS of somebody whom the operator trusts with it, so no other credentials are asked for. */
import { createHash, type KeyObject, verify } from "node:crypto";
import { bytesOfBase64Url, GatewayError } from "../../../contract/index.ts";
import type { HeardWords } from "./heard-words.ts";

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
  /** By which it is known again. */
  readonly word: string;
};

const TYPE = "isthmus-revocation+jwt";
const PURPOSE = { EdDSA: { type: "ed25519" }, ES256: { type: "ec", curve: "prime256v1" } } as const;
const MAX_AGE_MS = 5 * 60_000;
const MAX_JWS = 8_192;

export class SignedRevocations {
  readonly #now: () => number;
  readonly #heard: HeardWords;

  constructor(now: () => number, heard: HeardWords) {
    this.#now = now;
    this.#heard = heard;
  }

  /** Rejects with NOT_AUTHENTICATED, which says nothing about why, or where it cannot be known whether it was taken before. */
  async open(jws: string, feeds: readonly RevocationFeed[]): Promise<SignedRevocation> {
    const read = jws.length <= MAX_JWS ? readJws(jws) : undefined;
    const feed = read && feeds.find(({ keys }) => keys.some((key) => isSignedBy(read, key)));
    const word = feed && this.#wordOf(read.claims, feed);
    if (!read || !feed || word === undefined) throw refused();
    // An old word must not undo what an operator has unblocked.
    if (await this.#heard.has(word)) throw refused();
    return { feed, claims: read.claims, word };
  }

  /** What it says is on record: from now on it is refused. Whoever sent one that failed before this may send it again. */
  async remember({ word }: SignedRevocation): Promise<void> {
    await this.#heard.add(word, 2 * MAX_AGE_MS);
  }

  /** Undefined: it was not said lately, by its own clock and ours, or not to us. */
  #wordOf({ iat, jti, aud }: SignedRevocation["claims"], feed: RevocationFeed): string | undefined {
    if (typeof iat !== "number" || typeof jti !== "string" || jti === "") return undefined;
    if (feed.audience !== undefined && aud !== feed.audience) return undefined;
    if (Math.abs(this.#now() - iat * 1000) > MAX_AGE_MS) return undefined;
    return createHash("sha256")
      .update(JSON.stringify([feed.id, jti]))
      .digest("base64url");
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
  const bytes = bytesOfBase64Url(signature);
  if (!bytes) return undefined;
  return { algorithm: alg, signed: Buffer.from(`${head}.${body}`, "ascii"), signature: bytes, claims };
}

function objectOf(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytesOfBase64Url(part)?.toString("utf8") ?? "");
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
