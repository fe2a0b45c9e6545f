/**
 * Whoever runs a gateway. Where it asks nobody on its machine who they are, everybody there is the local user, also every agent;
 * where it asks, somebody must be known before there is a first token. The operator is who shows the word that the gateway was
 * started with, which no agent is told.
 */
import {
  type AuditTrail,
  type Clock,
  DEFAULT_TENANT,
  gatewayProof,
  type HttpRequest,
  type Log,
  OPERATOR_PROOF_MS,
  type Principal,
  readOperatorCredentials,
} from "../../contract/index.ts";
import { FailureNotes } from "./failure-notes.ts";
import { isLocalPeer } from "./local-peer.ts";
import { refuse } from "./refusal.ts";
import { isSameHash, tokenHash } from "./static-token.ts";

/** Of proofs that are remembered: only whoever has the token can make them. Beyond that none is taken. */
const MAX_SHOWN = 10_000;

export const OPERATOR: Principal = {
  id: "operator",
  identity: {
    tenant: DEFAULT_TENANT,
    user: "operator",
    client: "operator",
    groups: [],
    scopes: [],
    role: "admin",
    proof: "token",
  },
};

export type LocalOperatorOptions = {
  readonly token: string;
  readonly audit: AuditTrail;
  readonly clock: Clock;
  readonly log: Log;
  /** Everybody's clock. */
  readonly now: () => number;
  /** Whether others are known by what they show: then it counts only on this machine. */
  readonly isAmongOthers?: boolean;
};

export class LocalOperator {
  readonly #token: string;
  readonly #hash: string;
  readonly #now: () => number;
  /** Until when proofs that were shown are remembered, by their nonces: none is good twice. */
  readonly #shown = new Map<string, number>();
  /** Whose sender is asked for again while the body comes. */
  readonly #proved = new WeakSet<HttpRequest>();
  #port: number | undefined;
  readonly #notes: FailureNotes;
  readonly #isAmongOthers: boolean;

  constructor({ token, audit, clock, log, now, isAmongOthers = false }: LocalOperatorOptions) {
    this.#token = token;
    this.#now = now;
    this.#hash = tokenHash(token);
    this.#isAmongOthers = isAmongOthers;
    this.#notes = new FailureNotes(audit, clock, log);
  }

  /** Where the gateway listens. */
  listensOn({ port }: { readonly port: number }): void {
    this.#port = port;
  }

  /** That we know the token; undefined: nobody can have reached us. */
  prove(nonce: string): string | undefined {
    return this.#port === undefined ? undefined : gatewayProof(this.#token, this.#port, nonce);
  }

  /** Undefined: the request shows nothing, or something that means nothing here. */
  of(request: HttpRequest): Principal | undefined {
    const { authorization = "" } = request.headers;
    const [, token] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
    if (token !== undefined) return this.ofToken(request, token);
    return this.#isHeard(request) && this.#isProved(request, authorization) ? OPERATOR : undefined;
  }

  /** The same for a token that may have come in another way; undefined: it is not the operator's, or not from here. */
  ofToken(request: HttpRequest, token: string): Principal | undefined {
    return this.#isHeard(request) && this.#isOurs(token) ? OPERATOR : undefined;
  }

  /** Rejects with NOT_AUTHENTICATED. */
  async signIn(request: HttpRequest, token: string): Promise<Principal> {
    if (this.#isOurs(token)) return OPERATOR;
    const error = refuse("unknown");
    this.#notes.note(request, error);
    throw error;
  }

  /** Whether the word counts where this request comes from. */
  #isHeard(request: HttpRequest): boolean {
    return !this.#isAmongOthers || isLocalPeer(request);
  }

  /** Only of what is done over `/api`, where the body is held against the digest that the proof is of. */
  #isProved(request: HttpRequest, authorization: string): boolean {
    if (this.#proved.has(request)) return true;
    const { method, url, headers, peer } = request;
    const digest = headers["content-digest"];
    if (!peer?.reached || digest === undefined || !url.startsWith("/api/")) return false;
    const asked = { ...peer.reached, method, url, digest };
    const shown = readOperatorCredentials(authorization, this.#token, asked);
    if (!shown || !this.#isFirst(shown.nonce, shown.time)) return false;
    this.#proved.add(request);
    return true;
  }

  #isFirst(nonce: string, time: number): boolean {
    const now = this.#now();
    for (const [old, until] of this.#shown) if (until < now) this.#shown.delete(old);
    if (Math.abs(now - time) > OPERATOR_PROOF_MS || this.#shown.has(nonce) || this.#shown.size >= MAX_SHOWN)
      return false;
    this.#shown.set(nonce, time + OPERATOR_PROOF_MS);
    return true;
  }

  #isOurs(token: string): boolean {
    return isSameHash(tokenHash(token), this.#hash);
  }
}
