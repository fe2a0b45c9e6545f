/**
 * The official SDK v1, loaded by path from tests/parts. The types say only what is used here, so that `npm run check`
 * needs no installed parts.
 */

export type Json = Record<string, unknown>;

/** A call in progress, as the SDK hands it to a request handler. */
export interface Exchange {
  readonly signal: AbortSignal;
  readonly _meta?: { readonly progressToken?: string | number };
  /** Both go out on the stream of this call. */
  sendNotification(notification: { method: string; params?: Json }): Promise<void>;
  sendRequest(request: { method: string; params?: Json }, resultSchema: unknown): Promise<Json>;
  /** Closes the SSE stream of this call, which the client then resumes. Absent on stdio. */
  closeSSEStream?(): void;
}

export interface ServerPeer {
  fallbackRequestHandler?: (request: { method: string; params?: Json }, exchange: Exchange) => Promise<Json>;
  removeRequestHandler(method: string): void;
  getClientCapabilities(): Json | undefined;
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
}

export interface ClientPeer {
  connect(transport: Transport): Promise<void>;
  getServerCapabilities(): Json | undefined;
  setRequestHandler(schema: unknown, handler: (request: { params: Json }) => Promise<Json>): void;
  listTools(): Promise<{ tools: { name: string; inputSchema: Json }[] }>;
  callTool(params: { name: string; arguments: Json }): Promise<Json>;
  close(): Promise<void>;
}

export interface Transport {
  onclose?: (() => void) | undefined;
  close(): Promise<void>;
}

export interface HttpTransport extends Transport {
  readonly sessionId?: string;
  handleRequest(request: unknown, response: unknown): Promise<void>;
}

type Constructor<Options extends unknown[], Made> = new (...options: Options) => Made;

async function load<Module>(path: string): Promise<Module> {
  const root = new URL("../parts/node_modules/@modelcontextprotocol/sdk/dist/esm/", import.meta.url);
  return (await import(new URL(path, root).href)) as Module;
}

export const { Server } = await load<{ Server: Constructor<[Json, Json], ServerPeer> }>("server/index.js");
export const { Client } = await load<{ Client: Constructor<[Json, Json], ClientPeer> }>("client/index.js");
export const { StdioServerTransport } = await load<{ StdioServerTransport: Constructor<[], Transport> }>(
  "server/stdio.js",
);
export const { StreamableHTTPServerTransport } = await load<{
  StreamableHTTPServerTransport: Constructor<[Json], HttpTransport>;
}>("server/streamableHttp.js");
export const { StreamableHTTPClientTransport } = await load<{
  StreamableHTTPClientTransport: Constructor<[URL], HttpTransport & { terminateSession(): Promise<void> }>;
}>("client/streamableHttp.js");
export const { ResultSchema, ElicitRequestSchema } = await load<{
  ResultSchema: unknown;
  ElicitRequestSchema: unknown;
}>("types.js");
