/** The tokens of one server as they are kept: read, refreshed by one process at a time, and forgotten. */
import { createHash } from "node:crypto";
import { type CredentialHolder, identityOf, type RiskClass, type Timers } from "../../../contract/index.ts";
import type { KeptToken, TokenOwner, TokenVault } from "../token-vault.ts";
import { tokenId, wordOf } from "../token-vault.ts";
import { withConfigured, withoutConfigured } from "./client-registration.ts";
import { covers, type Reading } from "./documents.ts";
import { OAuthFault } from "./oauth-fault.ts";
import { type Granted, type OAuthSettings, refreshTokens, type TokenPair } from "./token-sources.ts";

export type Kept = {
  readonly owner: TokenOwner;
  readonly pair: TokenPair;
  readonly scopes: string;
  readonly resource: string;
  readonly version: number;
};

export type KeptTokensOptions = Reading & {
  readonly settings: OAuthSettings;
  readonly riskClass: RiskClass;
  readonly vault: TokenVault;
  readonly timers: Timers;
  readonly now: () => number;
};

/** How long a token with which new ones can be had is kept without use. */
const REFRESHABLE_MS = 30 * 24 * 60 * 60_000;
/** Of a token whose end nobody told. */
const UNTOLD_MS = 60 * 60_000;
/** A process that died while it refreshed must not keep others from it. */
const LEASE_MS = 30_000;
const WAIT_MS = 100;
const MAX_WAITS = 120;

export class KeptTokens {
  readonly #options: KeptTokensOptions;

  constructor(options: KeptTokensOptions) {
    this.#options = options;
  }

  /** Tokens of the lowest risk are shared by all sessions of a user. */
  ownerOf({ principal, session }: CredentialHolder): TokenOwner {
    const { riskClass, settings } = this.#options;
    const { server } = settings;
    // One for all callers: the gateway's own.
    if (settings.type === "client_credentials")
      return { server, tenant: "", client: "gateway", user: "", principal: "", session: "" };
    const { tenant, client, user } = identityOf(principal);
    const [source, ofSession] = [wordOf(principal), riskClass === 2 ? session : ""];
    return { server, tenant, client, user, principal: principal.id, source, session: ofSession };
  }

  async read(owner: TokenOwner): Promise<Kept | undefined> {
    const found = await this.#find(owner);
    if (!found) return undefined;
    const { scopes, audience: resource, version } = found.row;
    return { owner, pair: found.pair, scopes, resource, version };
  }

  /** A server of the same name may have been elsewhere, or have had another issuer: what is from then is nothing to it. */
  async #find(owner: TokenOwner): Promise<{ row: KeptToken["row"]; pair: TokenPair } | undefined> {
    const { vault, settings } = this.#options;
    const found = await vault.get(owner);
    if (!found || !covers(found.row.audience, settings.url)) return undefined;
    const pair = JSON.parse(found.text) as TokenPair;
    const endpoint = withConfigured(settings, pair.endpoint);
    const isOfIssuer = settings.issuer === undefined || settings.issuer === endpoint.issuer;
    return isOfIssuer ? { row: found.row, pair: { ...pair, endpoint } } : undefined;
  }

  /** False: somebody else has written since. */
  async keep(owner: TokenOwner, { pair, scopes, resource }: Granted, ifVersion?: number): Promise<boolean> {
    const { vault, riskClass, settings } = this.#options;
    const facts = { ...owner, riskClass, scopes, audience: resource, expiresAt: this.#endOf(pair) };
    const client = withoutConfigured(settings, pair.endpoint.client);
    return await vault.put(facts, JSON.stringify({ ...pair, endpoint: { ...pair.endpoint, client } }), ifVersion);
  }

  #endOf({ refreshToken, accessExpiresAt }: TokenPair): number {
    const now = this.#options.now();
    return refreshToken === undefined ? (accessExpiresAt ?? now + UNTOLD_MS) : now + REFRESHABLE_MS;
  }

  async forget(owner: TokenOwner, reason: string): Promise<void> {
    await this.#options.vault.remove(owner, reason);
  }

  /** A new pair of an old one. Undefined: it cannot be refreshed, and is forgotten. Rejects with OAuthFault. */
  async refresh({ owner, ...kept }: Kept): Promise<Kept | undefined> {
    const found = await this.#find(owner);
    if (!found) return undefined;
    const { pair: present } = found;
    const { refreshToken } = present;
    // Somebody else was faster.
    if (present.accessToken !== kept.pair.accessToken) return await this.read(owner);
    if (refreshToken === undefined) return undefined;
    const isFree = found.row.leasedUntil <= this.#options.now();
    if (!isFree || !(await this.#options.vault.lease(found.row, LEASE_MS))) return await this.#await(owner, kept.pair);
    const version = found.row.version + 1;
    try {
      const pair = await refreshTokens({ ...present, refreshToken }, kept.resource, this.#options);
      await this.keep(owner, { ...kept, pair }, version);
      return await this.read(owner);
    } catch (error) {
      if (!this.#isFinal(error, present)) {
        // Whoever comes next may try.
        await this.#options.vault.lease({ ...found.row, version }, 0);
        throw error;
      }
      await this.forget(owner, "it could not be refreshed");
      return undefined;
    }
  }

  /** A client that registered itself and is known no more cannot refresh again; one in the config can be corrected there. */
  #isFinal(error: unknown, { endpoint }: TokenPair): boolean {
    if (!(error instanceof OAuthFault)) return false;
    return error.isFinal || (error.isAboutClient && endpoint.client.id !== this.#options.settings.clientId);
  }

  /** Another process refreshes it: what it gets is ours, too. */
  async #await(owner: TokenOwner, former: TokenPair): Promise<Kept | undefined> {
    for (let waits = 0; waits < MAX_WAITS; waits++) {
      await new Promise<void>((resolve) => this.#options.timers.after(WAIT_MS, resolve));
      const kept = await this.read(owner);
      if (kept?.pair.accessToken !== former.accessToken) return kept;
    }
    throw new OAuthFault("Another process of the gateway is refreshing the token and does not come to an end.");
  }
}

export function keyOf(owner: TokenOwner): string {
  return tokenId(owner);
}

/** What is told of a token where the token itself must not be. */
export function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
