import { clientAuth } from "./client-auth.ts";
import { withConfigured } from "./client-registration.ts";
import type { Reading } from "./documents.ts";
import { askIssuer } from "./issuer-request.ts";
import type { OAuthSettings, TokenPair } from "./token-sources.ts";

/** What was kept of a token, and what the config says of its server. */
export type IssuedToken = { readonly pair: TokenPair; readonly settings: OAuthSettings };

const AT_ONCE = 8;

/** Takes tokens back where they were issued, some at a time. `onFailed` hears of those for which that did not work. */
export async function revokeAll(
  tokens: readonly IssuedToken[],
  readingFor: (token: IssuedToken) => Reading,
  onFailed: (server: string, cause: unknown) => void,
): Promise<void> {
  const left = tokens.values();
  const work = async () => {
    for (const token of left) {
      await revokeAtIssuer(token, readingFor(token)).catch((cause: unknown) => onFailed(token.settings.server, cause));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** By RFC 7009, if that issuer does so. Rejects with OAuthFault. */
async function revokeAtIssuer({ pair, settings }: IssuedToken, reading: Reading): Promise<void> {
  const { revocationUrl: url, refreshToken, accessToken } = pair;
  if (url === undefined) return;
  const { client, issuer } = withConfigured(settings, pair.endpoint);
  const as = { issuer, revocation_endpoint: url };
  await askIssuer(
    {
      what: "revocation",
      success: 200,
      async run(oauth, options) {
        const auth = clientAuth(oauth, client);
        const token = refreshToken ?? accessToken;
        await oauth.processRevocationResponse(
          await oauth.revocationRequest(as, { client_id: client.id }, auth, token, options),
        );
      },
    },
    reading,
  );
}
