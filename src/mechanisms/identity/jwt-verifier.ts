/** Checks tokens that issuers have signed. What a token says about itself decides nothing but whose keys are tried. */
import type { JWTHeaderParameters, JWTPayload } from "jose";
import { bytesOfBase64Url, GatewayError, type Principal } from "../../contract/index.ts";
import { AtOnce } from "./at-once.ts";
import { type ClaimNames, principalOfClaims } from "./claims.ts";
import type { IssuerKeys } from "./issuer-keys.ts";
import { type Refusal, refuse } from "./refusal.ts";
import { twinOf } from "./token-twin.ts";

export type Issuer = {
  readonly url: string;
  readonly tenant: string;
  readonly claims: ClaimNames;
  /** Audiences that mean the whole gateway. */
  readonly audiences: readonly string[];
  readonly keys: IssuerKeys;
};

export type VerifiedToken = {
  readonly principal: Principal;
  readonly issuer: Issuer;
  /** Whom it is for, as it says. */
  readonly audiences: readonly string[];
  /** In ms of everybody's clock. */
  readonly expiresAt: number;
  /** The same token as whoever has it can spell it, too. */
  readonly twin: string | undefined;
};

/** Never `none`, never one with a shared key. Each fits one type of key only. */
const ALGORITHMS = ["RS256", "PS256", "ES256", "ES384", "EdDSA", "Ed25519"] as const;
const LEEWAY_S = 30;
const MAX_AUDIENCES = 20;
/** The last moment that has a date. */
const END_OF_TIME_MS = 8.64e15;
/** Tokens of one issuer that nobody has shown before: anybody can name it, and it may take long to answer. */
const MAX_STRANGERS = 1_000;
const TYPES = new Set(["jwt", "at+jwt", "application/at+jwt"]);
/** Keys that come with the token, addresses of keys, and demands: a token may make none of them. */
const REFUSED_MEMBERS = ["jwk", "jku", "x5u", "x5c", "crit", "b64", "zip", "enc"];

export class JwtVerifier {
  readonly #issuers: ReadonlyMap<string, { readonly issuer: Issuer; readonly strangers: AtOnce }>;
  readonly #now: () => number;

  /** `now`: everybody's clock. */
  constructor(issuers: readonly Issuer[], now: () => number) {
    this.#issuers = new Map(issuers.map((issuer) => [issuer.url, { issuer, strangers: new AtOnce(MAX_STRANGERS) }]));
    this.#now = now;
  }

  /**
   * Rejects with NOT_AUTHENTICATED, STATE_UNAVAILABLE while the issuer cannot be asked for its keys, or OVERLOADED.
   * `isStranger`: the token was not found good before.
   */
  async verify(token: string, isStranger: boolean): Promise<VerifiedToken> {
    const jose = await import("jose");
    const { header, claimed } = readUnverified(jose, token);
    checkHeader(header);
    const known = this.#issuers.get(typeof claimed.iss === "string" ? claimed.iss : "");
    if (!known) throw refuse("issuer");
    const { issuer, strangers } = known;
    const verified = () => this.#verifyBy(issuer, jose, token, header);
    return await (isStranger ? strangers.run(verified) : verified());
  }

  async #verifyBy(issuer: Issuer, jose: Jose, token: string, header: JWTHeaderParameters): Promise<VerifiedToken> {
    const keys = await issuer.keys.keys(header.kid);
    try {
      const { payload } = await jose.jwtVerify(token, jose.createLocalJWKSet(keys), {
        algorithms: [...ALGORITHMS],
        issuer: issuer.url,
        requiredClaims: ["exp", "aud", "sub"],
        clockTolerance: LEEWAY_S,
        currentDate: new Date(this.#now()),
      });
      const expiresAt = ((payload.exp ?? 0) + LEEWAY_S) * 1_000;
      if (expiresAt > END_OF_TIME_MS) throw refuse("claims");
      const source = { issuer: issuer.url, tenant: issuer.tenant, claims: issuer.claims };
      return {
        principal: principalOfClaims(payload, source, expiresAt),
        issuer,
        audiences: audiencesOf(payload),
        expiresAt,
        twin: twinOf(token, header.alg),
      };
    } catch (error) {
      if (GatewayError.is(error)) throw error;
      // What is left are keys that cannot be used as their issuer says: too small, or of numbers that are none.
      throw refuse(error instanceof jose.errors.JOSEError ? reasonOf(error, jose.errors) : "key", error);
    }
  }
}

type Jose = typeof import("jose");

function readUnverified(jose: Jose, token: string): { header: JWTHeaderParameters; claimed: JWTPayload } {
  // A token is revoked by its text: any other spelling of the same bytes would be another token.
  if (token.split(".").some((part) => bytesOfBase64Url(part) === undefined)) throw refuse("malformed");
  try {
    const header = jose.decodeProtectedHeader(token) as JWTHeaderParameters;
    return { header, claimed: jose.decodeJwt(token) };
  } catch (error) {
    throw refuse("malformed", error);
  }
}

function checkHeader(header: JWTHeaderParameters): void {
  if (!ALGORITHMS.some((algorithm) => algorithm === header.alg)) throw refuse("algorithm");
  if (REFUSED_MEMBERS.some((name) => Object.hasOwn(header, name))) throw refuse("header");
  if (header.kid !== undefined && typeof header.kid !== "string") throw refuse("header");
  if (header.typ !== undefined && !TYPES.has(String(header.typ).toLowerCase())) throw refuse("header");
}

function audiencesOf({ aud }: JWTPayload): readonly string[] {
  const audiences: unknown = typeof aud === "string" ? [aud] : aud;
  if (!Array.isArray(audiences) || audiences.length > MAX_AUDIENCES || audiences.some((one) => typeof one !== "string"))
    throw refuse("claims");
  return audiences;
}

function reasonOf(error: Error, { JWTExpired, JWTClaimValidationFailed, ...errors }: Jose["errors"]): Refusal {
  if (error instanceof JWTExpired) return "expired";
  if (error instanceof JWTClaimValidationFailed) {
    if (error.claim === "nbf") return "early";
    return error.claim === "iss" ? "issuer" : "claims";
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return "signature";
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) return "key";
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported) return "algorithm";
  return "malformed";
}
