/** Finds out where tokens for one server come from. Asked anew for each consent: the answer may have changed. */
import { type IssuerDocument, type Reading, readIssuer, readResource } from "./documents.ts";
import { OAuthFault } from "./oauth-fault.ts";

export type Discovered = {
  readonly issuer: IssuerDocument;
  /** What tokens are for, spelled as the server spells it. */
  readonly resource: string;
  /** What the server's own document says can be asked for. */
  readonly scopes: readonly string[] | undefined;
};

export type DiscoveryOptions = Reading & {
  readonly server: URL;
  /** From the server's challenge. */
  readonly resourceMetadata?: string | undefined;
  /** What the operator wrote: no other is used. */
  readonly issuer?: string | undefined;
  /** Only who publishes metadata is asked: something secret will be sent there. */
  readonly isStrict?: boolean;
};

/** Rejects with OAuthFault. */
export async function discover(options: DiscoveryOptions): Promise<Discovered> {
  const { server, resourceMetadata, issuer: configured, isStrict = false } = options;
  const document = await readResource(server, resourceMetadata, options);
  const offered = document?.authorization_servers ?? [];
  if (configured !== undefined && offered.length > 0 && !offered.includes(configured))
    throw new OAuthFault("The server does not take tokens of the configured issuer.");
  // Servers of 2025-03-26 have no document of their own and are their own issuer.
  const issuer = configured ?? offered[0] ?? server.origin;
  const found = (await readIssuer(issuer, options)) ?? (document || isStrict ? undefined : bareIssuer(issuer));
  if (!found) throw new OAuthFault(`The authorization server ${new URL(issuer).host} publishes no metadata.`);
  return { issuer: found, resource: document?.resource ?? canonical(server), scopes: document?.scopes_supported };
}

/** How 2025-03-26 says to call an issuer that publishes nothing. */
function bareIssuer(issuer: string): IssuerDocument {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    code_challenge_methods_supported: ["S256"],
  };
}

function canonical({ origin, pathname, search }: URL): string {
  return pathname === "/" && search === "" ? origin : `${origin}${pathname}${search}`;
}
