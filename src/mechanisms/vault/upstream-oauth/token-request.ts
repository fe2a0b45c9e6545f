/** Requests to a token endpoint, whatever the grant. */
import { clientAuth, type OAuthClient } from "./client-auth.ts";
import type { Reading } from "./documents.ts";
import { askIssuer } from "./issuer-request.ts";
import { OAuthFault } from "./oauth-fault.ts";

/** What an issuer gave. `expiresIn`: seconds. */
export type Tokens = {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly expiresIn?: number;
  readonly scope?: string;
};

export type TokenEndpoint = { readonly url: string; readonly issuer: string; readonly client: OAuthClient };

/** Parameters that are undefined are left out. */
export type Grant = { readonly grant_type: string } & Readonly<Record<string, string | undefined>>;

/** What can stand in a header, and nothing else. */
const ACCESS_TOKEN = /^[\x21-\x7e]{1,16384}$/;
const MAX_REFRESH = 16_384;

/** Rejects with OAuthFault. */
export async function requestTokens(endpoint: TokenEndpoint, grant: Grant, reading: Reading): Promise<Tokens> {
  const { url, issuer, client } = endpoint;
  const { grant_type: type, ...parameters } = grant;
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const as = { issuer, token_endpoint: url };
  const us = { client_id: client.id };
  const answer = await askIssuer(
    {
      what: "token",
      success: 200,
      async run(oauth, options) {
        const auth = clientAuth(oauth, client);
        const form = new URLSearchParams(given);
        const response = await oauth.genericTokenEndpointRequest(as, us, auth, type, form, options);
        return await oauth.processGenericTokenEndpointResponse(as, us, response);
      },
    },
    reading,
  );
  const { access_token: accessToken, token_type: kind, expires_in: expiresIn, refresh_token, scope } = answer;
  if (kind !== "bearer") throw new OAuthFault("The authorization server gave a token of a kind that we cannot use.");
  if (!ACCESS_TOKEN.test(accessToken) || (refresh_token ?? "").length > MAX_REFRESH || expiresIn === 0)
    throw new OAuthFault("The authorization server's token answer cannot be read.");
  return {
    accessToken,
    ...(expiresIn !== undefined && { expiresIn }),
    ...(refresh_token !== undefined && { refreshToken: refresh_token }),
    ...(scope !== undefined && { scope }),
  };
}
