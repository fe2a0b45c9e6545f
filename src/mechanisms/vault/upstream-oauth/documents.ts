/** The two documents that tell where tokens for a server come from: RFC 9728 and RFC 8414. */
import * as z from "zod";
import { type Egress, EgressFault, type Trust } from "../../egress/index.ts";
import { OAuthFault } from "./oauth-fault.ts";

/** Made when it is needed: a gateway that starts reads none. */
function resourceDocument() {
  const strings = z.array(z.string()).optional();
  return z.looseObject({ resource: z.string(), authorization_servers: strings, scopes_supported: strings });
}

function issuerDocument() {
  const strings = z.array(z.string()).optional();
  return z.looseObject({
    issuer: z.string(),
    authorization_endpoint: z.string().optional(),
    token_endpoint: z.string(),
    registration_endpoint: z.string().optional(),
    revocation_endpoint: z.string().optional(),
    scopes_supported: strings,
    code_challenge_methods_supported: strings,
    token_endpoint_auth_methods_supported: strings,
    authorization_response_iss_parameter_supported: z.boolean().optional(),
    client_id_metadata_document_supported: z.boolean().optional(),
  });
}

export type ResourceDocument = z.output<ReturnType<typeof resourceDocument>>;
export type IssuerDocument = z.output<ReturnType<typeof issuerDocument>>;

export type Reading = { readonly egress: Egress; readonly trust: Trust };

/** The first of these that is there and speaks of this server; undefined: there is none. Rejects with OAuthFault. */
export async function readResource(
  server: URL,
  named: string | undefined,
  reading: Reading,
): Promise<ResourceDocument | undefined> {
  const path = server.pathname === "/" ? "" : server.pathname;
  const wellKnown = `${server.origin}/.well-known/oauth-protected-resource`;
  const places = named === undefined ? [...new Set([`${wellKnown}${path}`, wellKnown])] : [named];
  const found = await readFirst(places, resourceDocument(), reading);
  if (found && !covers(found.resource, server))
    throw new OAuthFault("The server's metadata is about another resource than the server itself.");
  return found;
}

/** A resource is the server, or what the server is a part of. */
export function covers(resource: string, server: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname, hash } = new URL(resource);
  const root = pathname.endsWith("/") ? pathname : `${pathname}/`;
  return origin === server.origin && hash === "" && `${server.pathname}/`.startsWith(root);
}

/** Undefined: it publishes none. Rejects with OAuthFault where it speaks for another issuer. */
export async function readIssuer(issuer: string, reading: Reading): Promise<IssuerDocument | undefined> {
  if (!URL.canParse(issuer)) throw new OAuthFault("The server names an authorization server that is no URL.");
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const places = new Set([
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]);
  const found = await readFirst(places, issuerDocument(), reading);
  // Compared as text: whoever can write another spelling could write another issuer.
  if (found && found.issuer !== issuer)
    throw new OAuthFault("The authorization server's metadata is about another issuer than the one asked for.");
  return found;
}

const ABSENT: readonly number[] = [404, 410];
const TOO_MANY = 429;

/**
 * That there is no document is said with 404 or 410 alone, at every place: whoever is away or turns us away just now must not
 * be taken for one without a document.
 */
async function readFirst<Type>(
  places: Iterable<string>,
  type: z.ZodType<Type>,
  reading: Reading,
): Promise<Type | undefined> {
  let refusal: OAuthFault | undefined;
  for (const place of places) {
    const found = await readDocument(place, type, reading);
    if (!(found instanceof OAuthFault)) {
      if (found !== undefined) return found;
    } else refusal ??= found;
  }
  if (refusal) throw refusal;
  return undefined;
}

/** A fault that is not thrown: the document may be at another place. */
async function readDocument<Type>(
  url: string,
  type: z.ZodType<Type>,
  reading: Reading,
): Promise<Type | OAuthFault | undefined> {
  const { status, body } = await reading.egress.fetch({ url }, reading.trust).catch((cause: unknown) => {
    if (cause instanceof EgressFault) throw new OAuthFault(cause.message, { cause });
    throw cause;
  });
  if (ABSENT.includes(status)) return undefined;
  if (status !== 200) {
    const fault = new OAuthFault(`The metadata at ${new URL(url).host} cannot be read (HTTP ${status}).`);
    if (status >= 500 || status < 400 || status === TOO_MANY) throw fault;
    return fault;
  }
  try {
    return type.parse(JSON.parse(body));
  } catch (cause) {
    throw new OAuthFault(`The metadata at ${new URL(url).host} cannot be read.`, { cause });
  }
}
