/** Which part of the outside surface a path means. No URL is parsed: this runs for every call. */
import type { McpPathKind } from "../fronts/mcp/index.ts";

/** What the server answers itself. */
type OwnPath = "home" | "healthz" | "readyz" | "metrics" | "nothing" | "metadata" | "oauth";

/** `resource`: the path that metadata is asked about. */
export type OwnRoute = { readonly to: OwnPath; readonly resource?: string };

export type Route =
  | { readonly to: McpPathKind; readonly catalog: string }
  | { readonly to: "admin" }
  | { readonly to: "confirm" }
  | { readonly to: "consent" }
  | { readonly to: "approvals" }
  | OwnRoute;

const EVERYTHING: Route = { to: "mcp", catalog: "" };
const NOTHING: Route = { to: "nothing" };
/** There is no authorization server here. */
const NO_OAUTH: Route = { to: "oauth" };
const ADMIN: Route = { to: "admin" };
const HOME: Route = { to: "home" };
const CONFIRM: Route = { to: "confirm" };
const CONSENT: Route = { to: "consent" };
const APPROVALS: Route = { to: "approvals" };
const API = "/api/";
const OAUTH = "/oauth/";
const APPROVAL_PAGES = "/approvals/";
const METADATA = "/.well-known/oauth-protected-resource";

/** Where clients look for an authorization server at the address of the gateway itself, and where they would use one. */
const OAUTH_PLACES: ReadonlySet<string> = new Set(["/register", "/authorize", "/token"]);
const OAUTH_DOCUMENTS = ["/.well-known/oauth-", "/.well-known/openid-configuration"] as const;

/** `url` as it stands in the request line. The catalog "" is everything the caller may see. */
export function routeOf(url: string): Route {
  if (url === "/mcp") return EVERYTHING;
  const query = url.indexOf("?");
  const path = query < 0 ? url : url.slice(0, query);
  switch (path) {
    case "/":
      return HOME;
    case "/mcp":
    case "/sse":
    case "/messages":
      return { to: path.slice(1) as McpPathKind, catalog: "" };
    case "/healthz":
    case "/readyz":
    case "/metrics":
      return { to: path.slice(1) as OwnPath };
    case "/mcpax/confirm":
      return CONFIRM;
    case "/openapi.json":
      return ADMIN;
    default:
      if (path.startsWith(API)) return ADMIN;
      if (path.startsWith(OAUTH)) return CONSENT;
      if (path.startsWith(APPROVAL_PAGES)) return APPROVALS;
      if (path.startsWith(METADATA)) return metadataRoute(path.slice(METADATA.length));
      return isOfOAuth(path) ? NO_OAUTH : catalogRoute(path);
  }
}

/** Of the gateway as a whole, or of one endpoint. Whether there is such a catalog is not told. */
function metadataRoute(resource: string): Route {
  return resource === "" || "catalog" in routeOf(resource) ? { to: "metadata", resource } : NO_OAUTH;
}

function isOfOAuth(path: string): boolean {
  return OAUTH_PLACES.has(path) || OAUTH_DOCUMENTS.some((document) => path.startsWith(document));
}

function catalogRoute(path: string): Route {
  const end = path.indexOf("/", 1);
  if (path.charCodeAt(0) !== 47 || end < 2) return NOTHING;
  const kind = path.slice(end + 1);
  if (kind !== "mcp" && kind !== "sse" && kind !== "messages") return NOTHING;
  const written = path.slice(1, end);
  if (!written.includes("%")) return { to: kind, catalog: written };
  try {
    return { to: kind, catalog: decodeURIComponent(written) };
  } catch {
    return NOTHING;
  }
}
