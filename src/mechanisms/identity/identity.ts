/**
 * Finds out who sends a request: by a token that this gateway gave out, one that an issuer signed, a certificate, or by coming
 * from this very machine. What was found out is believed for a moment, so that calls cost next to nothing.
 */
import {
  type AuditTrail,
  type Clock,
  GatewayError,
  type HttpRequest,
  identityOf,
  LOCAL,
  type Principal,
} from "../../contract/index.ts";
import { bearerOf } from "./bearer.ts";
import { type CertificateConfig, principalOfCertificate } from "./certificate.ts";
import { type CheckedCredential, CredentialChecks, type CredentialChecksOptions } from "./credential-checks.ts";
import { FailureNotes } from "./failure-notes.ts";
import { type Known, KnownCallers } from "./known-callers.ts";
import { isLocalPeer } from "./local-peer.ts";
import { refuse, scopesIn, scopesMissing } from "./refusal.ts";
import type { Resource } from "./resource.ts";
import { tokenHash } from "./static-token.ts";

export type IdentityOptions = Omit<CredentialChecksOptions, "known"> & {
  readonly clock: Clock;
  /** Everybody's clock. */
  readonly now: () => number;
  readonly audit: AuditTrail;
  readonly resource: Resource;
  readonly certificates?: CertificateConfig | undefined;
  /** Whether whoever comes from this machine and shows nothing is the local user. */
  readonly allowsLocal: boolean;
  /** What whoever comes with an issuer's token must have, whatever they call. */
  readonly requiredScopes: readonly string[];
  /** Hears whose token was found good: it may be exchanged for those of servers. */
  readonly onProven?: ((principal: Principal, token: string) => void) | undefined;
};

/** Where tokens are to be had, for clients that ask the gateway itself for one. */
const ADVICE = {
  issuers:
    "Tokens for this gateway come from the authorization servers that /.well-known/oauth-protected-resource names, and not from it.",
  tokens:
    "This gateway gives out its tokens itself: put one into the client's headers, as Authorization: Bearer and the token. Whoever runs the gateway makes one with: isthmus token create",
  certificates: "This gateway knows its callers by their certificates: give one to the client. It takes no tokens.",
} as const;

export class Identity {
  readonly #options: IdentityOptions;
  readonly #known: KnownCallers;
  readonly #checks: CredentialChecks;
  readonly #notes: FailureNotes;

  constructor(options: IdentityOptions) {
    this.#options = options;
    this.#known = new KnownCallers(options.clock, options.now);
    this.#checks = new CredentialChecks({ ...options, known: this.#known });
    this.#notes = new FailureNotes(options.audit, options.clock, options.log);
  }

  /** At once for whoever was here a moment ago. Throws, or rejects, with NOT_AUTHENTICATED, NOT_ALLOWED or STATE_UNAVAILABLE. */
  authenticate(request: HttpRequest): Principal | Promise<Principal> {
    const now = this.#options.clock.now();
    const known = this.#known.in(request.headers, now);
    if (known === undefined) return this.#find(request);
    if (now >= known.againAt) this.#checks.again(known);
    return known.principal;
  }

  /** Whoever brings this token in a form instead of a header. Rejects as `authenticate` does. */
  signIn(request: HttpRequest, token: string): Promise<Principal> {
    return this.#noting(request, async () => {
      const known = await this.#findByToken(token);
      return this.#accept(known, request, token);
    });
  }

  challenge(request: HttpRequest, error: unknown): string {
    return this.#options.resource.challenge(request, GatewayError.from(error));
  }

  /** As `challenge`, for a call that somebody known may not make; "" where their issuer could not help them. */
  stepUp(request: HttpRequest, error: GatewayError): string {
    const { proof, scopes } = identityOf(request.principal);
    const missing = scopesIn(error);
    if (proof !== "oidc" || missing.length === 0) return "";
    // With those it has: clients ask for what they are told, and would lose the others.
    return this.#options.resource.challenge(request, scopesMissing([...new Set([...scopes, ...missing])]));
  }

  metadata(request: HttpRequest, path: string): object | undefined {
    return this.#options.resource.metadata(request, path);
  }

  get tokenAdvice(): string {
    const { issuers, tokens } = this.#options;
    if (issuers) return ADVICE.issuers;
    return tokens ? ADVICE.tokens : ADVICE.certificates;
  }

  /** Whoever came with the token of this hash, also where it is not believed any more; undefined: that is not known here. */
  bearerOf(hash: string): Principal | undefined {
    const principal = this.#known.remembered(hash)?.principal;
    return principal?.identity?.tokenHash === hash ? principal : undefined;
  }

  /** What is known of them is looked at again with their next request. `hash`: of a token. */
  forget(who: { readonly hash?: string; readonly principal?: string; readonly client?: string }): void {
    this.#checks.interrupt();
    this.#known.forget(
      ({ hash, principal }) =>
        hash === who.hash || principal.id === who.principal || identityOf(principal).client === who.client,
    );
  }

  /** Everybody is looked at again with their next request. Who was known before still is, where the store is away by then. */
  doubtAll(): void {
    this.#checks.interrupt();
    this.#known.doubtAll();
  }

  #find(request: HttpRequest): Principal | Promise<Principal> {
    try {
      const found = this.#findKnown(request);
      if (!(found instanceof Promise)) return this.#admit(found, request);
      return found.then(
        (known) => this.#noting(request, () => this.#admit(known, request)),
        (error) => this.#noting(request, () => Promise.reject(error)),
      );
    } catch (error) {
      this.#note(request, error);
      throw error;
    }
  }

  #findKnown(request: HttpRequest): Known | Promise<Known> {
    const { certificates, allowsLocal } = this.#options;
    const token = bearerOf(request);
    const certificate = request.peer?.certificate;
    // One that is not trusted is refused even beside a good token: somebody pretends.
    const holder = certificates && certificate && principalOfCertificate(certificate, certificates);
    if (token !== undefined) return this.#findByToken(token);
    if (holder) return this.#checks.accept(provenBy(holder, `certificate ${certificate.fingerprint}`));
    if (allowsLocal && isLocalPeer(request)) return this.#checks.accept(provenBy(LOCAL, "local"));
    throw refuse("missing");
  }

  #findByToken(token: string): Known | Promise<Known> {
    const hash = tokenHash(token);
    const known = this.#known.find(hash);
    if (known) return known;
    this.#known.throwRefused(hash);
    return this.#checks.check(hash, token);
  }

  /** The credential is good; is it good here? From then on these headers are known, which always come with the same path. */
  #admit(known: Known, request: HttpRequest): Principal {
    const principal = this.#accept(known, request, bearerOf(request));
    this.#known.bind(request.headers, known);
    return principal;
  }

  /** Only what nothing is left to be said against is heard of. */
  #accept(known: Known, request: HttpRequest, token: string | undefined): Principal {
    this.#refuseElsewhere(known, request);
    if (token !== undefined) this.#options.onProven?.(known.principal, token);
    return known.principal;
  }

  /** Throws where a good credential is none for this place. */
  #refuseElsewhere({ audience, principal }: Known, request: HttpRequest): void {
    const { resource, requiredScopes } = this.#options;
    if (audience && !resource.isFor(audience.named, request.url, audience.whole)) throw refuse("audience");
    const { proof, scopes } = identityOf(principal);
    const isShort = proof === "oidc" && requiredScopes.some((scope) => !scopes.includes(scope));
    if (isShort) throw scopesMissing(requiredScopes);
  }

  async #noting(request: HttpRequest, work: () => Principal | Promise<Principal>): Promise<Principal> {
    try {
      return await work();
    } catch (error) {
      this.#note(request, error);
      throw error;
    }
  }

  #note(request: HttpRequest, error: unknown): void {
    if (GatewayError.is(error)) this.#notes.note(request, error);
  }
}

function provenBy(principal: Principal, hash: string): CheckedCredential {
  return { principal, hash, expiresAt: identityOf(principal).expiresAt };
}
