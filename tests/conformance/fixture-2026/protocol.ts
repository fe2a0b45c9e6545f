/** What a request of 2026-07-28 must carry, beside its body the headers that repeat parts of it. */
import { rpcError } from "../offers/call.ts";
import { checkLevel } from "../offers/log-levels.ts";
import type { Json } from "../sdk.ts";

export const VERSION = "2026-07-28";

export const META = "io.modelcontextprotocol/";

export type Request = { readonly id: string | number; readonly method: string; readonly params: Json };

/** What a request says about its client. */
export type Envelope = { readonly capabilities: Json; readonly logLevel: string | undefined };

/** Reads the envelope, or throws. `header` is the version in the headers; undefined where there are none. */
export function readEnvelope({ params }: Request, header?: string): Envelope {
  const meta = params._meta;
  if (!isObject(meta)) throw rpcError(-32602, "Invalid params: _meta is missing");
  const version = meta[`${META}protocolVersion`];
  const capabilities = meta[`${META}clientCapabilities`];
  if (typeof version !== "string") throw rpcError(-32602, `Invalid params: _meta has no ${META}protocolVersion`);
  if (!isObject(capabilities)) throw rpcError(-32602, `Invalid params: _meta has no ${META}clientCapabilities`);
  if (header !== undefined && header !== version) throw headerMismatch("MCP-Protocol-Version");
  if (version !== VERSION) {
    throw rpcError(-32022, "Unsupported protocol version", { supported: [VERSION], requested: version });
  }
  const level = meta[`${META}logLevel`];
  return { capabilities, logLevel: level === undefined ? undefined : checkLevel(level) };
}

export function headerMismatch(name: string): Error {
  return rpcError(-32020, `Header mismatch: ${name} is missing or not as in the body`);
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An error as it goes out. */
export function describe(error: unknown): Json {
  const { code = -32603, message, data } = error as { code?: number; message: string; data?: Json };
  // This revision has no code of its own for a missing resource.
  return { code: code === -32002 ? -32602 : code, message, ...(data === undefined ? {} : { data }) };
}
