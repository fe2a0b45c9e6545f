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
  for (const place of places) {
    const found = await readDocument(place, resourceDocument(), reading);
    if (!found) continue;
    if (!covers(found.resource, server))
      throw new OAuthFault("The server's metadata is about another resource than the server itself.");
    return found;
  }
  return undefined;
}

/** A resource is the server, or what the server is a part of. */
function covers(resource: string, server: URL): boolean {
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
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  for (const place of new Set(places)) {
    const found = await readDocument(place, issuerDocument(), reading);
    if (!found) continue;
    // Compared as text: whoever can write another spelling could write another issuer.
    if (found.issuer !== issuer)
      throw new OAuthFault("The authorization server's metadata is about another issuer than the one asked for.");
    return found;
  }
  return undefined;
}

async function readDocument<Type>(url: string, type: z.ZodType<Type>, reading: Reading): Promise<Type | undefined> {
  const { status, body } = await reading.egress.fetch({ url }, reading.trust).catch((cause: unknown) => {
    if (cause instanceof EgressFault) throw new OAuthFault(cause.message, { cause });
    throw cause;
  });
  if (status !== 200) return undefined;
  try {
    return type.parse(JSON.parse(body));
  } catch (cause) {
    throw new OAuthFault(`The metadata at ${new URL(url).host} cannot be read.`, { cause });
  }
}
