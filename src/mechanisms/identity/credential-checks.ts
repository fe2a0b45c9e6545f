/** Looks at credentials: once at a time for each, and not at too many of strangers at once. */
import {
  type Clock,
  GatewayError,
  identityOf,
  type Log,
  type Principal,
  type TokenRows,
} from "../../contract/index.ts";
import { AtOnce } from "./at-once.ts";
import type { JwtVerifier } from "./jwt-verifier.ts";
import type { Audience, Known, KnownCallers } from "./known-callers.ts";
import { refuse } from "./refusal.ts";
import type { Resource } from "./resource.ts";
import { isStaticToken, tokenHash } from "./static-token.ts";
import { StaticTokens } from "./static-tokens.ts";

export type CredentialChecksOptions = {
  readonly known: KnownCallers;
  readonly clock: Clock;
  /** Everybody's clock. */
  readonly now: () => number;
  readonly log: Log;
  /** Unset: tokens of the gateway's own are not accepted. */
  readonly tokens?: TokenRows | undefined;
  readonly issuers?: JwtVerifier | undefined;
  readonly resource: Pick<Resource, "isForAll">;
  /** Whether somebody may not any more, whatever they can prove. */
  readonly isRevoked: (principal: Principal) => boolean;
};

/** What a credential proves. `expiresAt`: in ms of everybody's clock; unset: it does not expire. */
export type CheckedCredential = {
  readonly principal: Principal;
  readonly hash: string;
  readonly expiresAt?: number | undefined;
  readonly audience?: Audience;
};

/** Nobody looks after the gateway with a token that is not for it. */
const FOR_ENDPOINTS = { isForEndpoints: true, role: undefined } as const;
/** A message about a revocation may be lost: for so long at most that goes unnoticed. */
const TOKEN_MS = 5_000;
const TOKEN_AGAIN_MS = 2_000;
/** While the store is away nobody can be revoked there either; whoever was known goes on for a while. */
const STORE_AWAY_MS = 10 * 60_000;
/** How long a signature is believed before its key is looked for again. */
const SIGNED_MS = 5 * 60_000;
/** Tokens that may be ours and that nobody has shown before. */
const MAX_STRANGERS = 1_000;

export class CredentialChecks {
  readonly #options: CredentialChecksOptions;
  readonly #tokens: StaticTokens | undefined;
  /** As many as are known, and as many strangers as each kind of credential has places for. */
  readonly #running = new Map<string, Promise<Known>>();
  readonly #strangers = new AtOnce(MAX_STRANGERS);
  #interruptions = 0;

  constructor(options: CredentialChecksOptions) {
    this.#options = options;
    const { tokens: rows, now, log } = options;
    this.#tokens = rows && new StaticTokens({ rows, now, log });
  }

  /** Somebody was revoked: what is being looked at right now may have been read before that, and is not kept. */
  interrupt(): void {
    this.#interruptions++;
  }

  /** Rejects as `Identity.authenticate` does. */
  check(hash: string, token: string): Promise<Known> {
    return this.#once(hash, () => {
      const isStranger = this.#options.known.remembered(hash) === undefined;
      if (!isStaticToken(token)) return this.#checkSigned(hash, token, isStranger);
      return isStranger ? this.#strangers.run(() => this.#checkStatic(hash)) : this.#checkStatic(hash);
    });
  }

  /** Nobody waits for it: whoever is refused is not known with the next request. */
  again(known: Known): void {
    known.againAt = this.#options.clock.now() + TOKEN_AGAIN_MS;
    this.#once(known.hash, () => this.#checkStatic(known.hash)).catch(() => undefined);
  }

  /** Of what is proved by itself. Throws NOT_AUTHENTICATED. */
  accept(credential: CheckedCredential): Known {
    return this.#keep(credential, { until: Number.POSITIVE_INFINITY, againAt: Number.POSITIVE_INFINITY });
  }

  #once(hash: string, check: () => Promise<Known>): Promise<Known> {
    const running = this.#running.get(hash);
    if (running !== undefined) return running;
    const started = check()
      .catch((error: unknown) => {
        if (GatewayError.is(error) && error.code === "NOT_AUTHENTICATED") this.#options.known.refuse(hash, error);
        throw error;
      })
      .finally(() => this.#running.delete(hash));
    this.#running.set(hash, started);
    return started;
  }

  async #checkStatic(hash: string): Promise<Known> {
    if (!this.#tokens) throw refuse("unknown");
    const before = this.#interruptions;
    try {
      const principal = await this.#tokens.verify(hash);
      const now = this.#options.clock.now();
      const until = before === this.#interruptions ? now + TOKEN_MS : now;
      const { expiresAt } = principal.identity ?? {};
      return this.#keep({ principal, hash, expiresAt }, { until, againAt: now + TOKEN_AGAIN_MS });
    } catch (error) {
      const lenient = GatewayError.is(error) && error.code === "STATE_UNAVAILABLE" && this.#withoutStore(hash);
      if (lenient) return lenient;
      throw error;
    }
  }

  /** The store is away: whoever was seen in it not long ago is believed until it is back. */
  #withoutStore(hash: string): Known | undefined {
    const { known: callers, clock, isRevoked } = this.#options;
    const known = callers.remembered(hash);
    const now = clock.now();
    if (!known || callers.isOver(known)) return undefined;
    if (now >= Math.min(known.expiresAt, known.checkedAt + STORE_AWAY_MS)) return undefined;
    if (isRevoked(known.principal)) throw refuse("revoked");
    return Object.assign(known, { until: Math.min(known.expiresAt, now + TOKEN_MS), againAt: now + TOKEN_AGAIN_MS });
  }

  async #checkSigned(hash: string, token: string, isStranger: boolean): Promise<Known> {
    const { issuers, clock, resource } = this.#options;
    if (!issuers) throw refuse("unknown");
    const before = this.#interruptions;
    const { principal, issuer, audiences, expiresAt, twin } = await issuers.verify(token, isStranger);
    const now = clock.now();
    const until = before === this.#interruptions ? now + SIGNED_MS : now;
    const audience = { named: audiences, whole: issuer.audiences };
    const twinHash = twin === undefined ? {} : { twinHash: tokenHash(twin) };
    const identity = { ...identityOf(principal), tokenHash: hash, ...twinHash };
    const isForAll = resource.isForAll(audiences, issuer.audiences);
    const bearer = { ...principal, identity: isForAll ? identity : { ...identity, ...FOR_ENDPOINTS } };
    return this.#keep({ principal: bearer, hash, expiresAt, audience }, { until, againAt: Number.POSITIVE_INFINITY });
  }

  #keep({ expiresAt, ...facts }: CheckedCredential, times: Pick<Known, "until" | "againAt">): Known {
    const { known, clock, now, isRevoked } = this.#options;
    if (isRevoked(facts.principal)) throw refuse("revoked");
    const checkedAt = clock.now();
    const end = expiresAt === undefined ? Number.POSITIVE_INFINITY : checkedAt + expiresAt - now();
    if (end <= checkedAt) throw refuse("expired");
    const until = Math.min(times.until, end);
    return known.put({ ...facts, ...times, until, checkedAt, expiresAt: end, endsAt: expiresAt, isForgotten: false });
  }
}
