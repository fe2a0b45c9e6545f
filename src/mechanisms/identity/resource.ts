/** What clients are told so that they can authenticate: which resource this is, and who gives out tokens for it. */
import type { GatewayError, HttpRequest } from "../../contract/index.ts";
import { headerLine } from "../../contract/index.ts";
import { REFUSALS, refusalOf, scopesIn } from "./refusal.ts";

const METADATA_PATH = "/.well-known/oauth-protected-resource";

export type ResourceConfig = {
  /** As clients reach the gateway, without a slash at its end; unset: as the client says that it does. */
  readonly base: string | undefined;
  readonly isTls: boolean;
  readonly issuers: readonly string[];
  /** What clients should ask for. */
  readonly scopes: readonly string[];
};

type Addressed = Pick<HttpRequest, "url" | "headers">;

const HOST = /^[A-Za-z0-9.\-_]+(:\d{1,5})?$|^\[[0-9A-Fa-f:]+\](:\d{1,5})?$/;

/** The path by which an endpoint is known: that of 2024 has two, of which clients are told one. */
function resourcePath(url: string): string {
  const query = url.indexOf("?");
  const path = query < 0 ? url : url.slice(0, query);
  if (path.endsWith("/messages")) return `${path.slice(0, -"/messages".length)}/sse`;
  return path.endsWith("/mcp") || path.endsWith("/sse") ? path : "";
}

/** Of two that differ only in a slash at their end, both are meant. */
function withoutSlash(resource: string): string {
  return resource.endsWith("/") ? resource.slice(0, -1) : resource;
}

export class Resource {
  readonly #config: ResourceConfig;

  constructor(config: ResourceConfig) {
    this.#config = config;
  }

  /** Whether a token for these audiences is for what `url` means: the whole gateway, or that very endpoint. */
  isFor(audiences: readonly string[], url: string, whole: readonly string[]): boolean {
    const { base } = this.#config;
    if (base === undefined) return audiences.some((audience) => whole.includes(audience));
    const meant = [base, base + resourcePath(url)];
    return audiences.some((audience) => whole.includes(audience) || meant.includes(withoutSlash(audience)));
  }

  /** Whether such a token is for the whole gateway. */
  isForAll(audiences: readonly string[], whole: readonly string[]): boolean {
    return this.isFor(audiences, "", whole);
  }

  /** RFC 9728. `path`: what stands behind the well-known one. Undefined: no authorization server gives out tokens for it. */
  metadata(request: Addressed, path: string): object | undefined {
    const { issuers, scopes } = this.#config;
    // Clients that find a document without issuers take the gateway for one, and show people what it cannot answer them.
    if (issuers.length === 0) return undefined;
    return {
      resource: `${this.#base(request) ?? ""}${path}`,
      authorization_servers: issuers,
      ...(scopes.length > 0 && { scopes_supported: scopes }),
      bearer_methods_supported: ["header"],
      resource_name: "Isthmus",
    };
  }

  /** The line of an answer with status 401 or 403. */
  challenge(request: Addressed, error: GatewayError): string {
    const reason = refusalOf(error);
    const parts = this.#whereToLook(request);
    const missing = scopesIn(error);
    if (missing.length > 0) parts.push('error="insufficient_scope"', `scope="${missing.join(" ")}"`);
    else if (error.code === "NOT_ALLOWED") return "";
    else if (this.#config.scopes.length > 0) parts.push(`scope="${this.#config.scopes.join(" ")}"`);
    const code = reason && REFUSALS[reason].error;
    if (code !== undefined) parts.push(`error="${code}"`, `error_description="${error.message}"`);
    return headerLine("WWW-Authenticate", parts.length > 0 ? `Bearer ${parts.join(", ")}` : "Bearer");
  }

  #whereToLook(request: Addressed): string[] {
    // RFC 6750 wants something behind the scheme.
    if (this.#config.issuers.length === 0) return ['realm="Isthmus"'];
    const base = this.#base(request);
    return base === undefined ? [] : [`resource_metadata="${base}${METADATA_PATH}${safePath(request.url)}"`];
  }

  #base({ headers: { host = "" } }: Addressed): string | undefined {
    const { base, isTls } = this.#config;
    if (base !== undefined) return base;
    return HOST.test(host) ? `${isTls ? "https" : "http"}://${host}` : undefined;
  }
}

/** Inside a quoted string. */
function safePath(url: string): string {
  const path = resourcePath(url);
  return /["\\]/.test(path) ? "" : path;
}
