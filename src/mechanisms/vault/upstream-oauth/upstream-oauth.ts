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
  type UpstreamCredentials,
} from "../../../contract/index.ts";
import { parseChallenge, scopeSet } from "./challenge.ts";
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
  readonly #known = new Map<string, Known>();
  readonly #loading = new Map<string, Promise<string>>();
  readonly #listeners = new Set<GrantListener>();
  /** What the server wanted when it last refused somebody. */
  wanted = NOTHING;

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
      if (riskClass === 1) return lineOf((await this.#fetch(holder)).pair.accessToken);
      const kept = await this.#present(holder);
      if (kept) return this.#remember(key, kept);
      if (settings.type === "oauth") return this.#remember(key, undefined);
      return await this.#fetchAndKeep(key, holder);
    } catch (error) {
      throw asGatewayError(error);
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

  async #fetchAndKeep(key: string, holder: CredentialHolder): Promise<string> {
    const { tokens, onChange } = this.#options;
    const owner = tokens.ownerOf(holder);
    await tokens.keep(owner, await this.#fetch(holder));
    onChange(key, false);
    return this.#remember(key, await tokens.read(owner));
  }

  async #fetch({ principal }: CredentialHolder): Promise<Granted> {
    const { settings, reading, now, subjectTokenOf } = this.#options;
    return await fetchTokens(settings, this.wanted, subjectTokenOf(principal), { ...reading, now });
  }

  #remember(key: string, kept: Kept | undefined): string {
    const { now, trustMs } = this.#options;
    // That there is none is looked up each time: somebody may be opening the page just now.
    if (!kept) return "";
    const { accessToken, accessExpiresAt = Number.POSITIVE_INFINITY } = kept.pair;
    const line = lineOf(accessToken);
    const until = Math.min(accessExpiresAt - MARGIN_MS, now() + trustMs);
    this.#known.set(key, { line, until, hash: hashOf(accessToken) });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    return line;
  }

  async refused(holder: CredentialHolder, refusal: Refusal): Promise<void> {
    const { resourceMetadata, scope, error } = parseChallenge(refusal.challenge);
    const { tokens, settings, riskClass } = this.#options;
    const owner = tokens.ownerOf(holder);
    const kept = riskClass === 1 ? undefined : await tokens.read(owner);
    const isScope = refusal.status === 403 && error === "insufficient_scope";
    const missing = scopeSet(scope).filter((one) => !kept?.scopes.split(" ").includes(one));
    const wanted = { scopes: scopeSet(kept?.scopes, scope), resourceMetadata };
    if (isScope && kept && missing.length === 0)
      throw new GatewayError("NOT_ALLOWED", { message: "The server wants a scope that it has been given already." });
    // What one caller has is nothing to ask for on behalf of another.
    this.wanted = this.common ? wanted : { ...wanted, scopes: scopeSet(scope) };
    if (settings.type !== "oauth") await this.#startAgain(owner, holder, refusal);
    else if (isScope || !(await this.#renew(kept, refusal))) {
      if (kept && refusal.status === 401) await this.forget(holder, "the server refused it");
      throw this.#consentRequired(holder, wanted);
    }
  }

  /** Without anybody: true where there is something else to send. */
  async #renew(kept: Kept | undefined, { sent, isRepeat }: Refusal): Promise<boolean> {
    if (!kept || isRepeat) return false;
    const key = keyOf(kept.owner);
    // Whatever is on its way may have begun before the refusal.
    await this.#loading.get(key)?.catch(() => undefined);
    const present = await this.#options.tokens.read(kept.owner);
    if (!present) return false;
    if (lineOf(present.pair.accessToken) !== sent) return true;
    this.#known.delete(key);
    const line = await this.#once(key, async () => {
      const fresh = await this.#options.tokens.refresh(present);
      this.#options.onChange(key, false);
      return this.#remember(key, fresh);
    }).catch((error: unknown) => Promise.reject(asGatewayError(error)));
    return line !== "" && line !== sent;
  }

  async #startAgain(owner: Kept["owner"], holder: CredentialHolder, { isRepeat }: Refusal): Promise<void> {
    if (isRepeat)
      throw new GatewayError("PROVIDER_UNREACHABLE", { message: "The server refuses the tokens of its own issuer." });
    if (this.#options.riskClass !== 1) await this.forget(holder, "the server refused it");
    this.#known.delete(keyOf(owner));
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

function asGatewayError(error: unknown): GatewayError {
  if (!(error instanceof OAuthFault)) return GatewayError.from(error);
  return new GatewayError("PROVIDER_UNREACHABLE", { message: error.message, cause: error });
}
