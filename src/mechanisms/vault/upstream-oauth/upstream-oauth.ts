/**
 * The credentials of one server that wants OAuth: every request to it asks here for its header. What can be had without
 * anybody is had once for all who wait; for the rest somebody is shown a link.
 */
import {
  type CredentialHolder,
  GatewayError,
  headerLine,
  type Principal,
  type Refusal,
  type RiskClass,
  Turns,
  type UpstreamCredentials,
} from "../../../contract/index.ts";
import { BoundedMap } from "./bounded-map.ts";
import { type Challenge, parseChallenge, scopeSet } from "./challenge.ts";
import type { Reading } from "./documents.ts";
import { hashOf, type Kept, type KeptTokens, keyOf } from "./kept-tokens.ts";
import { OAuthFault } from "./oauth-fault.ts";
import { fetchTokens, type Granted, type OAuthSettings, type Wanted } from "./token-sources.ts";

export type UpstreamOAuthOptions = {
  readonly settings: OAuthSettings;
  readonly riskClass: RiskClass;
  readonly tokens: KeptTokens;
  readonly reading: Reading;
  readonly now: () => number;
  readonly common: CredentialHolder | undefined;
  /** How long what is known here may differ from what is kept; other processes may change that. */
  readonly trustMs: number;
  /** Where this holder lets us use the server. */
  link(server: string, holder: CredentialHolder, wanted: Wanted): string;
  /** A token has changed, and other processes may know the former one. */
  onChange(id: string, isGranted: boolean): void;
  /** With what this caller has proved itself; undefined: with nothing that could be exchanged. */
  subjectTokenOf(principal: Principal): string | undefined;
  isRevoked(hash: string): boolean;
  /** What was kept for this session is to be forgotten. */
  releaseSession(session: string): void;
};

type Known = { readonly line: string; readonly until: number; readonly hash: string };

type GrantListener = Parameters<UpstreamCredentials["onGranted"]>[0];

const MAX_KNOWN = 10_000;
/** A token is not used when it is about to end. */
const MARGIN_MS = 10_000;
const NOTHING: Wanted = { scopes: [] };

export class UpstreamOAuth implements UpstreamCredentials {
  readonly isPerCaller: boolean;
  readonly common: CredentialHolder | undefined;
  readonly settings: OAuthSettings;
  readonly #options: UpstreamOAuthOptions;
  readonly #known = new BoundedMap<Known>(MAX_KNOWN);
  readonly #loading = new Map<string, Promise<string>>();
  readonly #listeners = new Set<GrantListener>();
  /** What the server wanted when it last refused somebody, for each token by itself. */
  readonly #wanted = new BoundedMap<Wanted>(MAX_KNOWN);
  /** Refusals of each token: most who wait find what they want when it is their turn. */
  readonly #turns = new Turns();

  constructor(options: UpstreamOAuthOptions) {
    this.#options = options;
    this.settings = options.settings;
    this.isPerCaller = options.settings.type !== "client_credentials";
    this.common = options.common;
  }

  headersFor(holder: CredentialHolder): string | Promise<string> {
    const { now, isRevoked, tokens } = this.#options;
    const key = keyOf(tokens.ownerOf(holder));
    const known = this.#known.get(key);
    if (known && known.until > now() && !isRevoked(known.hash)) return known.line;
    return this.#once(key, () => this.#load(key, holder));
  }

  /** One at a time for each token: whoever comes meanwhile gets the same. */
  #once(key: string, work: () => Promise<string>): Promise<string> {
    // Each call gets a token of its own, and nobody keeps it.
    if (this.#options.riskClass === 1) return work();
    const loading = this.#loading.get(key) ?? work().finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    return loading;
  }

  async #load(key: string, holder: CredentialHolder): Promise<string> {
    const { riskClass, settings } = this.#options;
    try {
      if (riskClass === 1) return lineOf((await this.#fetch(key, holder)).pair.accessToken);
      const kept = await this.#present(holder);
      if (kept) return this.#remember(key, kept);
      if (settings.type === "oauth") return this.#remember(key, undefined);
      return await this.#keep(key, holder, await this.#fetch(key, holder));
    } catch (error) {
      throw OAuthFault.asGatewayError(error);
    }
  }

  /** What is kept, refreshed where it has ended. */
  async #present(holder: CredentialHolder): Promise<Kept | undefined> {
    const { tokens, now, isRevoked } = this.#options;
    const kept = await tokens.read(tokens.ownerOf(holder));
    if (!kept) return undefined;
    if (isRevoked(hashOf(kept.pair.accessToken))) {
      await tokens.forget(kept.owner, "it was revoked");
      return undefined;
    }
    const { accessExpiresAt = Number.POSITIVE_INFINITY } = kept.pair;
    return accessExpiresAt - MARGIN_MS > now() ? kept : await tokens.refresh(kept);
  }

  async #keep(key: string, holder: CredentialHolder, granted: Granted): Promise<string> {
    const { tokens, onChange } = this.#options;
    const owner = tokens.ownerOf(holder);
    await tokens.keep(owner, granted);
    onChange(key, false);
    return this.#remember(key, await tokens.read(owner));
  }

  async #fetch(key: string, holder: CredentialHolder): Promise<Granted> {
    const { scopes, ...wanted } = this.#wanted.get(key) ?? NOTHING;
    try {
      return await this.#fetchWith(holder, { ...wanted, scopes });
    } catch (error) {
      if (!OAuthFault.isAboutScope(error) || scopes.length === 0) throw error;
      // What a call wanted once is not given (any more): the others do without.
      this.#wanted.set(key, { ...wanted, scopes: [] });
      return await this.#fetchWith(holder, { ...wanted, scopes: [] });
    }
  }

  async #fetchWith({ principal }: CredentialHolder, wanted: Wanted): Promise<Granted> {
    const { settings, reading, now, subjectTokenOf } = this.#options;
    return await fetchTokens(settings, wanted, subjectTokenOf(principal), { ...reading, now });
  }

  #remember(key: string, kept: Kept | undefined): string {
    const { now, trustMs } = this.#options;
    // That there is none is looked up each time: somebody may be opening the page just now.
    if (!kept) return "";
    const { accessToken, accessExpiresAt = Number.POSITIVE_INFINITY } = kept.pair;
    const line = lineOf(accessToken);
    const until = Math.min(accessExpiresAt - MARGIN_MS, now() + trustMs);
    this.#known.set(key, { line, until, hash: hashOf(accessToken) });
    return line;
  }

  /** What the server wanted when it last refused this holder. */
  wantedBy(holder: CredentialHolder): Wanted {
    return this.#wanted.get(keyOf(this.#options.tokens.ownerOf(holder))) ?? NOTHING;
  }

  async refused(holder: CredentialHolder, refusal: Refusal): Promise<void> {
    const challenge = parseChallenge(refusal.challenge);
    const isScope = refusal.status === 403 && challenge.error === "insufficient_scope";
    // The server knows whom it turns away: another token would change nothing.
    if (refusal.status === 403 && !isScope && refusal.sent !== "")
      throw new GatewayError("NOT_ALLOWED", { message: "The server does not allow this (HTTP 403)." });
    const key = keyOf(this.#options.tokens.ownerOf(holder));
    // Whatever is on its way may have begun before the refusal.
    await this.#loading.get(key)?.catch(() => undefined);
    if (this.settings.type === "oauth") await this.#askFor(key, holder, refusal, challenge);
    else if (isScope) await this.#turns.take(key, () => this.#widen(key, holder, refusal, challenge));
    else await this.#turns.take(key, () => this.#startAgain(key, holder, refusal, challenge));
  }

  /** What is kept, and what of the scopes in a challenge it lacks. */
  async #compare(holder: CredentialHolder, { scope }: Challenge, { sent, isRepeat }: Refusal) {
    const { tokens, riskClass } = this.#options;
    const kept = riskClass === 1 ? undefined : await tokens.read(tokens.ownerOf(holder));
    const had = kept?.scopes ?? this.wantedBy(holder).scopes.join(" ");
    const missing = scopeSet(scope).filter((one) => !had.split(" ").includes(one));
    const isPresent = kept !== undefined && lineOf(kept.pair.accessToken) === sent;
    // It was replaced while this one was on its way: the new one was not refused yet.
    const isLate = kept !== undefined && !isPresent && !isRepeat;
    return { kept, had, missing, isPresent, isLate };
  }

  async #askFor(key: string, holder: CredentialHolder, refusal: Refusal, challenge: Challenge): Promise<void> {
    const { kept, missing, isPresent, isLate } = await this.#compare(holder, challenge, refusal);
    const { scope, resourceMetadata } = challenge;
    const isScope = refusal.status === 403 && kept !== undefined;
    if (isLate && (!isScope || missing.length === 0)) return this.#outdate(key, refusal);
    if (isScope && missing.length === 0) throw givenAlready();
    const wanted = { scopes: scopeSet(kept?.scopes, scope), resourceMetadata };
    this.#wanted.set(key, wanted);
    if (!isScope && (await this.#renew(kept, refusal))) return;
    if (isPresent && refusal.status === 401) await this.forget(holder, "the server refused it");
    throw this.#consentRequired(holder, wanted);
  }

  /** Another token with more scopes. Where the issuer does not give it, only this call fails: what there was stays. */
  async #widen(key: string, holder: CredentialHolder, refusal: Refusal, challenge: Challenge): Promise<void> {
    const { had, missing, isLate } = await this.#compare(holder, challenge, refusal);
    const isKept = this.#options.riskClass !== 1;
    if (missing.length === 0 && (isLate || !(isKept || refusal.isRepeat))) return this.#outdate(key, refusal);
    if (missing.length === 0 || refusal.isRepeat) throw givenAlready();
    const wanted = { scopes: scopeSet(had, ...missing), resourceMetadata: challenge.resourceMetadata };
    try {
      const granted = await this.#fetchWith(holder, wanted);
      this.#wanted.set(key, wanted);
      if (isKept) await this.#keep(key, holder, granted);
    } catch (error) {
      if (!OAuthFault.isAboutScope(error)) throw OAuthFault.asGatewayError(error);
      const message = "The server wants a scope that its issuer does not give.";
      throw new GatewayError("NOT_ALLOWED", { message, cause: error });
    }
  }

  /** There is something newer than what was refused. */
  #outdate(key: string, { sent }: Refusal): void {
    if (this.#known.get(key)?.line === sent) this.#known.delete(key);
  }

  /** Without anybody: true where there is something else to send. */
  async #renew(kept: Kept | undefined, { sent, isRepeat }: Refusal): Promise<boolean> {
    if (!kept || isRepeat) return false;
    const key = keyOf(kept.owner);
    await this.#loading.get(key)?.catch(() => undefined);
    const present = await this.#options.tokens.read(kept.owner);
    if (!present) return false;
    if (lineOf(present.pair.accessToken) !== sent) return true;
    this.#known.delete(key);
    const line = await this.#once(key, async () => {
      const fresh = await this.#options.tokens.refresh(present);
      this.#options.onChange(key, false);
      return this.#remember(key, fresh);
    }).catch((error: unknown) => Promise.reject(OAuthFault.asGatewayError(error)));
    return line !== "" && line !== sent;
  }

  async #startAgain(key: string, holder: CredentialHolder, refusal: Refusal, challenge: Challenge): Promise<void> {
    const { had, isPresent, isLate } = await this.#compare(holder, challenge, refusal);
    if (isLate) return this.#outdate(key, refusal);
    if (refusal.isRepeat)
      throw new GatewayError("PROVIDER_UNREACHABLE", { message: "The server refuses the tokens of its own issuer." });
    this.#wanted.set(key, { scopes: scopeSet(had, challenge.scope), resourceMetadata: challenge.resourceMetadata });
    if (isPresent) await this.forget(holder, "the server refused it");
    this.#outdate(key, refusal);
  }

  #consentRequired(holder: CredentialHolder, wanted: Wanted): GatewayError {
    const { server } = this.settings;
    const url = this.#options.link(server, holder, wanted);
    const message = `${server} must be allowed first. Open ${url} and sign in, then try again.`;
    // Of the page of whoever everybody is, nothing has to be sealed: it may stand in lists and logs.
    const page = this.common && url.replace(/\?.*$/, "");
    return new GatewayError("CONSENT_REQUIRED", { message, details: { url, server, ...(page && { page }) } });
  }

  /** Somebody has said yes. */
  async granted(holder: CredentialHolder, granted: Granted): Promise<void> {
    const { tokens, onChange } = this.#options;
    const owner = tokens.ownerOf(holder);
    await tokens.keep(owner, granted);
    this.#known.delete(keyOf(owner));
    onChange(keyOf(owner), true);
    this.tellGranted(keyOf(owner));
  }

  /** Also called for what another process has heard. `id`: of the token. */
  tellGranted(id: string): void {
    const isFor = (holder: CredentialHolder) => keyOf(this.#options.tokens.ownerOf(holder)) === id;
    for (const listener of [...this.#listeners]) listener(isFor);
  }

  onGranted(listener: GrantListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async forget(holder: CredentialHolder, reason: string): Promise<void> {
    const { tokens, onChange } = this.#options;
    const owner = tokens.ownerOf(holder);
    this.#known.delete(keyOf(owner));
    await tokens.forget(owner, reason);
    onChange(keyOf(owner), false);
  }

  /** What is kept has changed elsewhere. */
  drop(id: string): void {
    this.#known.delete(id);
  }

  release(session: string): void {
    if (this.#options.riskClass === 2) this.#options.releaseSession(session);
  }
}

function lineOf(token: string): string {
  return headerLine("Authorization", `Bearer ${token}`);
}

function givenAlready(): GatewayError {
  return new GatewayError("NOT_ALLOWED", { message: "The server wants a scope that it has been given already." });
}
