/**
 * Lets pages of the origins that the operator has listed be MCP clients: browsers show them what is answered on MCP's own
 * paths, and nowhere else. What is done to the gateway (`/api`), and the pages for people, are no client's.
 */
import { type HttpRequest, headerLine } from "../contract/index.ts";
import { routeOf } from "./route.ts";

type Asked = Pick<HttpRequest, "method" | "url" | "headers">;

export interface Cors {
  /** Header lines that every answer to this request has, whoever gives it; "" for what is not asked by such a page. */
  linesFor(request: Asked): string;
  /** The answer to a browser that asks what a page may send; undefined: it does not, or the page may send nothing. */
  preflightLines(request: Asked): string | undefined;
}

const METHODS = "GET, POST, DELETE";
/** What clients of any revision send, and what they may tell about a call. */
const REQUEST_HEADERS = [
  "Authorization",
  "Content-Type",
  "Accept",
  "Mcp-Session-Id",
  "Mcp-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
  "Last-Event-ID",
  "Idempotency-Key",
  "Traceparent",
  "Tracestate",
].join(", ");
/** Arguments of tools that travel as headers too (2026-07-28): nobody knows their names beforehand. */
const PARAM_HEADER = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const ANSWER_HEADERS = "Mcp-Session-Id, WWW-Authenticate, Retry-After, Allow";
const MAX_AGE_SECONDS = 600;

/** Whoever puts another list into `options` changes what is allowed. */
export function createCors(options: { readonly allowedOrigins: readonly string[] }): Cors {
  let from: readonly string[] | undefined;
  let listed: ReadonlySet<string> = new Set();

  function isListed(origin: string): boolean {
    if (from !== options.allowedOrigins) {
      from = options.allowedOrigins;
      listed = new Set(from.map((one) => one.toLowerCase()));
    }
    return listed.has(origin.toLowerCase());
  }

  function isClient({ url, headers: { origin } }: Asked): boolean {
    return origin !== undefined && isListed(origin) && isForClients(url);
  }

  return {
    linesFor(request) {
      const { origin } = request.headers;
      if (origin === undefined || !isClient(request)) return "";
      const allowed = headerLine("Access-Control-Allow-Origin", origin) + headerLine("Vary", "Origin");
      return allowed + headerLine("Access-Control-Expose-Headers", ANSWER_HEADERS);
    },
    preflightLines(request) {
      const { method, headers } = request;
      if (method !== "OPTIONS" || headers["access-control-request-method"] === undefined) return undefined;
      if (!isClient(request)) return undefined;
      const params = paramHeadersIn(headers["access-control-request-headers"] ?? "");
      return (
        headerLine("Access-Control-Allow-Methods", METHODS) +
        headerLine("Access-Control-Allow-Headers", [REQUEST_HEADERS, ...params].join(", ")) +
        headerLine("Access-Control-Max-Age", String(MAX_AGE_SECONDS)) +
        headerLine("Vary", "Access-Control-Request-Headers")
      );
    },
  };
}

/** MCP's own paths, and what says how to become known there. */
function isForClients(url: string): boolean {
  const route = routeOf(url);
  return url.startsWith("/.well-known/") || "catalog" in route || route.to === "oauth";
}

function paramHeadersIn(list: string): string[] {
  return list.split(",").flatMap((written) => {
    const name = written.trim().toLowerCase();
    return PARAM_HEADER.test(name) ? [name] : [];
  });
}
