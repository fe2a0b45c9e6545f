import { headerLine, isFramingHeader } from "../../../contract/index.ts";
import type { HttpSend } from "./http-exchange.ts";

const DEFAULTS: Record<HttpSend["method"], readonly (readonly [string, string])[]> = {
  POST: [
    ["Accept", "application/json, text/event-stream"],
    ["Content-Type", "application/json"],
  ],
  GET: [["Accept", "text/event-stream"]],
  DELETE: [["Accept", "application/json"]],
};

export type RequestPrefixes = Readonly<Record<HttpSend["method"], string>>;

/**
 * The constant start of every request to one URL: request line and headers that never change.
 * A configured header replaces ours of the same name. Throws on headers that cannot be sent.
 */
export function buildPrefixes(url: URL, headers: Readonly<Record<string, string>>): RequestPrefixes {
  const names = new Set<string>();
  let configured = "";
  for (const [name, value] of Object.entries(headers)) {
    if (isFramingHeader(name)) throw new Error(`header ${name} is set by the gateway and cannot be configured`);
    names.add(name.toLowerCase());
    configured += headerLine(name, value);
  }
  const linesUnlessConfigured = (lines: readonly (readonly [string, string])[]) =>
    lines.map(([name, value]) => (names.has(name.toLowerCase()) ? "" : headerLine(name, value))).join("");
  const common = linesUnlessConfigured([
    ["Host", url.host],
    ["User-Agent", "isthmus"],
  ]);
  const build = (method: HttpSend["method"]) =>
    `${method} ${url.pathname}${url.search} HTTP/1.1\r\n${common}${linesUnlessConfigured(DEFAULTS[method])}${configured}`;
  return { POST: build("POST"), GET: build("GET"), DELETE: build("DELETE") };
}

const AFTER_PATH = " HTTP/1.1\r\n";

function prefixOf(prefix: string, { method, path }: HttpSend): string {
  return path === undefined ? prefix : `${method} ${path}${prefix.slice(prefix.indexOf(AFTER_PATH))}`;
}

/** The whole request as one text, so that head and body leave in one write. */
export function buildRequest(prefixes: RequestPrefixes, request: HttpSend): string {
  const prefix = prefixOf(prefixes[request.method], request);
  if (request.body === undefined) return `${prefix}${request.head}\r\n`;
  return `${prefix}${request.head}Content-Length: ${request.body.length}\r\n\r\n${request.body}`;
}
