/** Requests of MCP 2026-07-28 as a client writes them. */
import { encodeHeader, NAMED_METHODS } from "../../src/wire/mcp/2026-07-28/index.ts";
import type { SendOptions } from "./mcp-rig.ts";

export const META = "io.modelcontextprotocol/";
const VERSION = "2026-07-28";

export type ModernOptions = {
  readonly id?: unknown;
  readonly capabilities?: unknown;
  readonly logLevel?: unknown;
  /** Further members of `_meta`; undefined takes one away. */
  readonly meta?: Record<string, unknown>;
  /** Further headers; undefined takes one away. */
  readonly headers?: Record<string, string | undefined>;
  readonly version?: string;
  readonly path?: string;
  readonly signal?: AbortSignal;
};

export function modernBody(method: string, params: Record<string, unknown> = {}, options: ModernOptions = {}): string {
  const { id = 1, capabilities = {}, logLevel, meta = {}, version = VERSION } = options;
  const _meta = {
    [`${META}protocolVersion`]: version,
    [`${META}clientInfo`]: { name: "test", version: "1" },
    [`${META}clientCapabilities`]: capabilities,
    ...(logLevel === undefined ? {} : { [`${META}logLevel`]: logLevel }),
    ...meta,
  };
  return JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } });
}

/** A POST whose headers say what its body says. */
export function modern(method: string, params: Record<string, unknown> = {}, options: ModernOptions = {}): SendOptions {
  const key = NAMED_METHODS.get(method);
  const name = key === undefined ? undefined : params[key];
  const all: Record<string, string | undefined> = {
    "mcp-protocol-version": options.version ?? VERSION,
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": encodeHeader(name) } : {}),
    ...options.headers,
  };
  const headers = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
  const { path, signal } = options;
  return { body: modernBody(method, params, options), headers, ...(path && { path }), ...(signal && { signal }) };
}

/** A call of the rig's one tool. */
export function modernCall(
  args: object = {},
  options: ModernOptions & { more?: Record<string, unknown> } = {},
): SendOptions {
  return modern("tools/call", { name: "files.echo", arguments: args, ...options.more }, options);
}
