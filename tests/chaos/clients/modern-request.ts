/** Requests of 2026-07-28, which have no session. */
import type { Exchanger, Got } from "./exchange.ts";

const VERSION = "2026-07-28";
const PREFIX = "io.modelcontextprotocol/";

export type ModernRequest = {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly name?: string; readonly taskId?: string; readonly arguments?: object };
  /** Of the client. */
  readonly name: string;
  readonly key?: string | undefined;
  readonly hasTasks?: boolean;
};

export function sendModern(exchanger: Exchanger, request: ModernRequest): Promise<Got> {
  const { id, method, params, name, key, hasTasks } = request;
  const _meta = {
    [`${PREFIX}protocolVersion`]: VERSION,
    [`${PREFIX}clientInfo`]: { name, version: "1.0.0" },
    [`${PREFIX}clientCapabilities`]: hasTasks ? { extensions: { [`${PREFIX}tasks`]: {} } } : {},
  };
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": VERSION,
    "mcp-method": method,
    "mcp-name": params.name ?? params.taskId ?? "",
    ...(key !== undefined && { "idempotency-key": key }),
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } });
  return exchanger.send({ method: "POST", headers, body });
}
