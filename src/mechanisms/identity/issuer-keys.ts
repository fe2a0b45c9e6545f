/**
 * The public keys of one issuer: found by its metadata, kept for a while, and looked for again when a token names one that is
 * not among them. An issuer that is away is lived without for a while.
 */
import type { JSONWebKeySet, JWK } from "jose";
import type { Clock, Log } from "../../contract/index.ts";
import { GatewayError } from "../../contract/index.ts";
import { isSafeUrl, type ReadJson } from "./bounded-json.ts";

export type IssuerKeysOptions = {
  readonly issuer: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly read: ReadJson;
};

/** After this they are read again, behind the back of whoever asks. */
const FRESH_MS = 10 * 60_000;
/** After this whoever asks waits for it: where nobody came for a while, nobody has read them. */
const STALE_MS = 15 * 60_000;
/** So long after it could not be reached nobody waits for an issuer whose keys are known: longer than one try takes. */
const AWAY_MS = 2 * 60_000;
/** After this, without having reached the issuer, nobody's token can be checked. */
const KEPT_MS = 60 * 60_000;
/** How soon an issuer is asked again: anybody can send tokens with keys that do not exist. */
const PAUSE_MS = 10_000;
const MAX_KEYS = 100;
const KEY_TYPES = new Set(["RSA", "EC", "OKP"]);

export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #keys: JSONWebKeySet | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
  }

  /** `kid`: what a token names. Rejects with STATE_UNAVAILABLE while the issuer cannot be reached and nothing is known. */
  async keys(kid: string | undefined): Promise<JSONWebKeySet> {
    const now = this.#options.clock.now();
    const age = now - this.#readAt;
    if (!this.#keys || age > KEPT_MS) await this.#read();
    else if (age > STALE_MS && now - this.#failedAt > AWAY_MS) await this.#read();
    else if (kid !== undefined && !this.#keys.keys.some((key) => key.kid === kid)) await this.#read();
    else if (age > FRESH_MS) void this.#read();
    if (this.#keys && this.#options.clock.now() - this.#readAt <= KEPT_MS) return this.#keys;
    throw new GatewayError("STATE_UNAVAILABLE", { message: "The issuer of the token cannot be reached to check it." });
  }

  /** Once at a time, and not again at once. Never rejects. */
  #read(): Promise<void> {
    const { clock, log, issuer } = this.#options;
    if (this.#reading !== undefined) return this.#reading;
    if (clock.now() - this.#triedAt < PAUSE_MS) return Promise.resolve();
    this.#triedAt = clock.now();
    this.#reading = this.#readKeys()
      .then(
        (keys) => {
          this.#keys = keys;
          this.#readAt = clock.now();
        },
        (cause) => {
          this.#failedAt = clock.now();
          log.warn("issuer's keys not read", { issuer, cause });
        },
      )
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  async #readKeys(): Promise<JSONWebKeySet> {
    const { read } = this.#options;
    const keySet = await this.#findKeySet();
    const { keys } = objectOf(await read(keySet));
    if (!Array.isArray(keys) || keys.length > MAX_KEYS) throw new Error(`${keySet.href} is no set of keys`);
    return { keys: keys.filter(isPublicKey) };
  }

  /** RFC 8414 first, then OpenID's own place, before and behind the issuer's path. */
  async #findKeySet(): Promise<URL> {
    const { issuer } = this.#options;
    const { origin, pathname } = new URL(issuer);
    const path = pathname.replace(/\/$/, "");
    const places = [
      `${origin}/.well-known/oauth-authorization-server${path}`,
      `${origin}${path}/.well-known/openid-configuration`,
      `${origin}/.well-known/openid-configuration${path}`,
    ];
    const failures: string[] = [];
    for (const place of new Set(places)) {
      try {
        return this.#keySetIn(objectOf(await this.#options.read(new URL(place))), place);
      } catch (error) {
        failures.push((error as Error).message);
      }
    }
    throw new Error(failures.join("; "));
  }

  #keySetIn(metadata: Readonly<Record<string, unknown>>, place: string): URL {
    const { issuer, jwks_uri: address } = metadata;
    // Said by somebody else, it would make their keys those of this issuer.
    if (issuer !== this.#options.issuer) throw new Error(`${place} is the metadata of another issuer`);
    if (typeof address !== "string" || !URL.canParse(address)) throw new Error(`${place} names no keys`);
    const url = new URL(address);
    if (!isSafeUrl(url)) throw new Error(`${place} names keys that anybody on the way could replace`);
    return url;
  }
}

/** For signatures, of a kind with two halves: with a shared key, whoever verifies could also sign. */
function isPublicKey(key: unknown): key is JWK {
  const { kty, use, d, k } = objectOf(key);
  return (
    typeof kty === "string" &&
    KEY_TYPES.has(kty) &&
    (use === undefined || use === "sig") &&
    d === undefined &&
    k === undefined
  );
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
