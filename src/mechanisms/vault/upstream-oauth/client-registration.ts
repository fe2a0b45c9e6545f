/** As which client we speak to an issuer: the one that was configured, the one our document describes, or a registered one. */
import type { AuthMethod, OAuthClient } from "./client-auth.ts";
import type { IssuerDocument, Reading } from "./documents.ts";
import { askIssuer } from "./issuer-request.ts";
import { OAuthFault } from "./oauth-fault.ts";
import type { TokenEndpoint } from "./token-request.ts";

export type ClientSettings = {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly privateKey?: string | undefined;
  /** Where a document describes us; for issuers that take such a URL for a client's id. */
  readonly metadataUrl?: string | undefined;
};

const WITH_SECRET: readonly AuthMethod[] = ["client_secret_basic", "client_secret_post"];

/** Undefined: nobody has configured a client. */
export function configuredClient(settings: ClientSettings, issuer: IssuerDocument): OAuthClient | undefined {
  const { clientId: id, clientSecret: secret, privateKey } = settings;
  if (id === undefined) return undefined;
  if (privateKey !== undefined) return { id, method: "private_key_jwt", privateKey };
  if (secret === undefined) return { id, method: "none" };
  const offered = issuer.token_endpoint_auth_methods_supported ?? [];
  return { id, secret, method: WITH_SECRET.find((method) => offered.includes(method)) ?? "client_secret_basic" };
}

/** What may be kept or sent of a client: the operator's own secrets stay in the config. */
export function withoutConfigured({ clientId }: ClientSettings, client: OAuthClient): OAuthClient {
  return clientId === client.id ? { id: client.id, method: client.method } : client;
}

/** The same client with what the config says of it now: but not for another issuer than the config names. */
export function withConfigured(
  settings: ClientSettings & { readonly issuer?: string | undefined },
  endpoint: TokenEndpoint,
): TokenEndpoint {
  const { clientId, clientSecret: secret, privateKey, issuer } = settings;
  const { client } = endpoint;
  if (clientId !== client.id || (issuer !== undefined && issuer !== endpoint.issuer)) return endpoint;
  const configured = { ...(secret !== undefined && { secret }), ...(privateKey !== undefined && { privateKey }) };
  return { ...endpoint, client: { ...client, ...configured } };
}

/** As whom we are known without a registration; undefined: as nobody. */
export function knownClient(settings: ClientSettings, issuer: IssuerDocument): OAuthClient | undefined {
  const { metadataUrl } = settings;
  const isRead = metadataUrl !== undefined && issuer.client_id_metadata_document_supported;
  return configuredClient(settings, issuer) ?? (isRead ? { id: metadataUrl, method: "none" } : undefined);
}

/** How we describe ourselves, in a document or to whoever registers clients. */
export function describeClient(redirect: string, method: string) {
  return {
    client_name: "Isthmus",
    redirect_uris: [redirect],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: method,
    application_type: redirect.startsWith("https:") ? "web" : "native",
  };
}

/** `redirect`: where consent comes back to. Rejects with OAuthFault. */
export async function register(issuer: IssuerDocument, redirect: string, reading: Reading): Promise<OAuthClient> {
  const { registration_endpoint: url } = issuer;
  if (url === undefined)
    throw new OAuthFault(
      `The authorization server ${new URL(issuer.issuer).host} registers no clients; set clientId in [servers.auth].`,
    );
  const offered = issuer.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const wished = [...WITH_SECRET, "none"].find((method) => offered.includes(method)) ?? "client_secret_basic";
  const as = { issuer: issuer.issuer, registration_endpoint: url };
  const answer = await askIssuer(
    {
      what: "register",
      success: 201,
      async run(oauth, options) {
        const response = await oauth.dynamicClientRegistrationRequest(as, describeClient(redirect, wished), options);
        return await oauth.processDynamicClientRegistrationResponse(response);
      },
    },
    reading,
  );
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: method = wished } = answer;
  if (typeof secret !== "string") return { id, method: "none" };
  return {
    id,
    secret,
    method: method === "none" ? "none" : (WITH_SECRET.find((one) => one === method) ?? "client_secret_basic"),
  };
}
