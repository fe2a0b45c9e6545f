/** Finds out where tokens for one server come from. Asked anew for each consent: the answer may have changed. */
import { type IssuerDocument, type Reading, readIssuer, readResource } from "./documents.ts";
import { plainWords } from "./issuer-words.ts";
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
  if (configured === undefined) insistOnOneOrigin(found);
  return { issuer: found, resource: document?.resource ?? canonical(server), scopes: document?.scopes_supported };
}

const ENDPOINTS = ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"] as const;

/**
 * An issuer that a server has named speaks for its own origin alone: people who sign in at a page of somebody else's would
 * have its code, or what is got for it, go where the server wants. An operator who writes the issuer down believes all it says.
 */
function insistOnOneOrigin(found: IssuerDocument): void {
  const { origin, host } = new URL(found.issuer);
  for (const name of ENDPOINTS) {
    const url = found[name];
    if (url === undefined || (URL.canParse(url) && new URL(url).origin === origin)) continue;
    const where = (URL.canParse(url) && new URL(url).host) || "no host";
    throw new OAuthFault(
      `The authorization server ${host}, which the server has named itself, has its ${name} at ${where}. ` +
        `If that is right, set issuer = "${plainWords(found.issuer, [])}" in [servers.auth].`,
    );
  }
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
