import { clientProof } from "./client-auth.ts";
import type { Reading } from "./documents.ts";
import { post } from "./token-request.ts";
import type { TokenPair } from "./token-sources.ts";

/** Takes a token back where it was issued (RFC 7009), if that issuer does so. Rejects with OAuthFault. */
export async function revokeAtIssuer(pair: TokenPair, reading: Reading): Promise<void> {
  const { revocationUrl: url, endpoint, refreshToken, accessToken } = pair;
  if (url === undefined) return;
  const proof = clientProof(endpoint.client, endpoint.issuer);
  const body = new URLSearchParams({ token: refreshToken ?? accessToken, ...proof.parameters }).toString();
  const headers = { "Content-Type": "application/x-www-form-urlencoded", ...proof.headers };
  await post({ url, body, headers }, "revocation", reading);
}
