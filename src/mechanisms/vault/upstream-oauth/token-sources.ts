/** Where a token for one server comes from when nobody has to be asked: another grant of ours, or the caller's identity. */
import { scopeSet } from "./challenge.ts";
import { type ClientSettings, configuredClient } from "./client-registration.ts";
import { type Discovered, discover } from "./discovery.ts";
import type { Reading } from "./documents.ts";
import { OAuthFault } from "./oauth-fault.ts";
import { requestTokens, type TokenEndpoint, type Tokens } from "./token-request.ts";

export type OAuthSettings = ClientSettings & {
  readonly server: string;
  readonly url: URL;
  readonly type: "oauth" | "client_credentials" | "exchange";
  readonly scopes: readonly string[];
  readonly issuer?: string | undefined;
  /** For exchanges: what the token is to be for, where the issuer does not go by the resource. */
  readonly audience?: string | undefined;
};

/** What is sealed in a record. */
export type TokenPair = {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** In ms of everybody's clock; unset: nobody said. */
  readonly accessExpiresAt?: number;
  readonly endpoint: TokenEndpoint;
  readonly revocationUrl?: string;
};

export type Granted = { readonly pair: TokenPair; readonly scopes: string; readonly resource: string };

/** What the server's last refusal said. */
export type Wanted = { readonly scopes: readonly string[]; readonly resourceMetadata?: string | undefined };

/** What to ask for: what the operator and the server want, else all that the server's document names. */
export function chooseScopes(settings: OAuthSettings, wanted: Wanted, found: Discovered): string[] {
  const named = scopeSet(...settings.scopes, ...wanted.scopes);
  return named.length > 0 ? named : scopeSet(...(found.scopes ?? []));
}

/**
 * Where tokens for this server come from. What the operator or a caller has in confidence goes to no issuer that the server
 * chooses: only the operator's word counts for that. Rejects with OAuthFault.
 */
export async function discoverFor(
  settings: OAuthSettings,
  { resourceMetadata }: Pick<Wanted, "resourceMetadata">,
  reading: Reading,
): Promise<Discovered> {
  const { type, url: server, issuer, clientSecret, privateKey } = settings;
  const isConfided = type === "exchange" || clientSecret !== undefined;
  if (isConfided && issuer === undefined)
    throw new OAuthFault(
      "[servers.auth] needs the issuer that clientSecret, or the token of a caller, may be sent to.",
    );
  const isStrict = isConfided || privateKey !== undefined;
  return await discover({ ...reading, server, issuer, resourceMetadata, isStrict });
}

/** Rejects with OAuthFault. */
export async function fetchTokens(
  settings: OAuthSettings,
  wanted: Wanted,
  subjectToken: string | undefined,
  reading: Reading & { readonly now: () => number },
): Promise<Granted> {
  const found = await discoverFor(settings, wanted, reading);
  const client = configuredClient(settings, found.issuer);
  if (!client) throw new OAuthFault("[servers.auth] of this type needs a clientId.");
  const scopes = chooseScopes(settings, wanted, found).join(" ");
  const { issuer, token_endpoint: url } = found.issuer;
  const endpoint = { url, issuer, client };
  const grant = settings.type === "exchange" ? exchangeGrant(settings, subjectToken) : CLIENT_GRANT;
  const parameters = { ...grant, resource: found.resource, scope: scopes === "" ? undefined : scopes };
  const tokens = await requestTokens(endpoint, parameters, reading);
  return grantedBy(tokens, { endpoint, found, scopes, now: reading.now() });
}

const CLIENT_GRANT = { grant_type: "client_credentials" };

/** The caller's own token goes to the issuer alone, and what comes back is another one (RFC 8693). */
function exchangeGrant({ audience }: OAuthSettings, subjectToken: string | undefined) {
  if (subjectToken === undefined)
    throw new OAuthFault("The caller has shown no token that could be exchanged for one of this server.", {
      code: "invalid_request",
    });
  return {
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: subjectToken,
    subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
    audience,
  };
}

export function grantedBy(
  tokens: Tokens,
  about: { endpoint: TokenEndpoint; found: Discovered; scopes: string; now: number },
): Granted {
  const { endpoint, found, scopes, now } = about;
  const { revocation_endpoint: revocationUrl } = found.issuer;
  return {
    pair: { ...pairOf(tokens, endpoint, now), ...(revocationUrl !== undefined && { revocationUrl }) },
    // What was asked for counts as well: a server that wants it again after that will not be satisfied by asking again.
    scopes: scopeSet(tokens.scope, scopes).join(" "),
    resource: found.resource,
  };
}

function pairOf({ accessToken, refreshToken, expiresIn }: Tokens, endpoint: TokenEndpoint, now: number): TokenPair {
  return {
    accessToken,
    endpoint,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(expiresIn !== undefined && { accessExpiresAt: now + expiresIn * 1000 }),
  };
}

/** Nobody opens a page for this. Rejects with OAuthFault. */
export async function refreshTokens(
  pair: TokenPair & { readonly refreshToken: string },
  resource: string,
  reading: Reading & { readonly now: () => number },
): Promise<TokenPair> {
  const { endpoint, refreshToken, revocationUrl } = pair;
  const parameters = { grant_type: "refresh_token", refresh_token: refreshToken, resource };
  const tokens = await requestTokens(endpoint, parameters, reading);
  const next = pairOf({ refreshToken, ...tokens }, endpoint, reading.now());
  return { ...next, ...(revocationUrl !== undefined && { revocationUrl }) };
}
