/** What the vault is told, made of the config and of what the gateway has. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import {
  type Block,
  type Blocks,
  identityOf,
  type KeyProvider,
  type Principal,
  type TokenRows,
  type UpstreamTokenFilter,
} from "../../contract/index.ts";
import { principalOfToken } from "../../mechanisms/identity/index.ts";
import { fleetingKeys, openKeyFile, rotateKeyFile, wrappingKeys } from "../../mechanisms/vault/index.ts";
import type { ConsentDeskOptions, OAuthSettings, TokenPair } from "../../mechanisms/vault/upstream-oauth/index.ts";
import type { Config, ListenAddress, ServerConfig } from "../config/index.ts";
import type { GatewayState } from "../state/index.ts";

const KEY_FILE = "vault.keys";

/** Keys that the operator wrote, else what several processes have in common, else a file of this machine's. */
export async function openKeys({ vault, gateway }: Config, state: GatewayState | undefined): Promise<KeyProvider> {
  const [newest, ...older] = vault.keys.map((key) => Buffer.from(key.reveal(), "utf8"));
  if (newest) return wrappingKeys([newest, ...older]);
  if (state?.clusterKey !== undefined) return wrappingKeys([Buffer.from(state.clusterKey, "utf8")]);
  if (!state || gateway.state === undefined) return fleetingKeys();
  return await openKeyFile(join(gateway.state, KEY_FILE));
}

/** Tried again where it failed. */
export function onceOf<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let done: Promise<Result> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

/** Where browsers reach this gateway, without a slash at the end. */
export function baseUrl({ vault, auth, gateway }: Config, listen: ListenAddress): string {
  if (vault.publicUrl !== undefined) return vault.publicUrl;
  if (auth.resource !== undefined) return new URL(auth.resource).origin;
  const host = listen.host.includes(":") ? `[${listen.host}]` : listen.host;
  return `${gateway.tls ? "https" : "http"}://${host}:${listen.port}`;
}

type ConsentCheckParts = {
  readonly blocks: Pick<Blocks, "isBlocked">;
  /** Unset: tokens of the gateway's own are not accepted. */
  readonly tokens: Pick<TokenRows, "find"> | undefined;
  readonly now: () => number;
};

/** Whoever came with a token of the gateway's is what its row says now; anybody else is what they were. */
export function consentCheck({ blocks, tokens, now }: ConsentCheckParts): ConsentDeskOptions["mayConsent"] {
  async function bearerNow(hash: string | undefined): Promise<Principal | undefined> {
    const row = hash === undefined ? undefined : await tokens?.find(hash);
    return row && (row.expiresAt ?? Number.POSITIVE_INFINITY) > now() ? principalOfToken(row) : undefined;
  }
  return async (principal, server) => {
    const { proof, tokenHash } = identityOf(principal);
    const present = proof === "token" ? await bearerNow(tokenHash) : principal;
    return present !== undefined && blocks.isBlocked(present, server, "", "") === undefined;
  };
}

export function settingsOf(
  { id, url = "" }: ServerConfig,
  { type, scopes, issuer, audience, secrets, clientMetadataUrl }: NonNullable<ServerConfig["auth"]>,
  ownDocument: string | undefined,
): OAuthSettings {
  const { clientId, clientSecret, privateKey } = secrets;
  return {
    server: id,
    url: new URL(url),
    type,
    scopes,
    issuer,
    audience,
    metadataUrl: clientMetadataUrl ?? ownDocument,
    clientId: clientId?.reveal(),
    clientSecret: clientSecret?.reveal(),
    privateKey: privateKey?.reveal(),
  };
}

/** Issuers read it only where everybody can. */
export function ownDocument(base: string): string | undefined {
  return base.startsWith("https:") ? `${base}/oauth/client.json` : undefined;
}

export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** `isMeant` unset: all that the filter finds, also those that do not open. */
type MeantTokens = { readonly filter: UpstreamTokenFilter; readonly isMeant?: (pair: TokenPair) => boolean };

/** Which tokens a block is about. `bearer`: of the token that it blocks, where that is known. */
export function tokensOf({ subject, key, tenant, server }: Block, bearer?: Principal): readonly MeantTokens[] {
  const scope = { ...(tenant !== "" && { tenant }), ...(server !== "" && { server }) };
  switch (subject) {
    case "client":
      return [{ filter: { ...scope, client: key } }, ...tokensFor(bearer, tenant, scope)];
    case "user":
      return [{ filter: { ...scope, user: key } }];
    case "upstream": {
      const isMeant = ({ accessToken }: TokenPair) => createHash("sha256").update(accessToken).digest("hex") === key;
      return [{ filter: scope, isMeant }];
    }
    case "everybody":
      return server === "" ? [] : [{ filter: scope }];
    case "principal":
      return [{ filter: { ...scope, principal: key } }];
  }
}

/** What is kept for them: by their user and client, which another token of theirs may have in common with it. */
function tokensFor(bearer: Principal | undefined, of: string, scope: UpstreamTokenFilter): readonly MeantTokens[] {
  if (!bearer) return [];
  const { tenant, client, user } = identityOf(bearer);
  return of === "" || of === tenant ? [{ filter: { ...scope, tenant, client, user } }] : [];
}

/** Another key for the file of this machine; or why there is no such file. */
export async function rotateVaultKeys({
  vault,
  gateway,
  state,
}: Config): Promise<{ readonly file: string; readonly keys: number } | { readonly problem: string }> {
  if (vault.keys.length > 0)
    return { problem: "the keys are in [vault] keys: put the new one there, before the others" };
  if (state.shared.kind === "redis") return { problem: "several processes share their keys: set [vault] keys" };
  if (gateway.state === undefined) return { problem: 'without a config nothing is kept; "isthmus add" makes one' };
  const file = join(gateway.state, KEY_FILE);
  return { file, keys: await rotateKeyFile(file) };
}
