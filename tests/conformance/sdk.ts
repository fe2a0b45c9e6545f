/**
 * The official SDK, v1 and the client of v2, loaded by path from tests/parts. The types say only what is used here, so
 * that `npm run check` needs no installed parts.
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
  onclose?: () => void;
  fallbackRequestHandler?: (request: { method: string; params?: Json }, exchange: Exchange) => Promise<Json>;
  removeRequestHandler(method: string): void;
  getClientCapabilities(): Json | undefined;
  sendToolListChanged(): Promise<void>;
  sendPromptListChanged(): Promise<void>;
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
}

export interface ClientPeer {
  connect(transport: Transport): Promise<void>;
  getServerCapabilities(): Json | undefined;
  /** v1 takes a schema, v2 the name of the method. */
  setRequestHandler(request: unknown, handler: (request: { params: Json }) => Promise<Json>): void;
  listTools(): Promise<{ tools: { name: string; inputSchema: Json }[] }>;
  callTool(params: { name: string; arguments: Json }): Promise<Json>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  readResource(params: { uri: string }): Promise<Json>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(params: { name: string }): Promise<Json>;
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
  const root = new URL("../parts/node_modules/@modelcontextprotocol/", import.meta.url);
  return (await import(new URL(path, root).href)) as Module;
}

type HttpClientTransport = HttpTransport & { terminateSession(): Promise<void> };

export const { Server } = await load<{ Server: Constructor<[Json, Json], ServerPeer> }>("sdk/dist/esm/server/index.js");
export const { StdioServerTransport } = await load<{ StdioServerTransport: Constructor<[], Transport> }>(
  "sdk/dist/esm/server/stdio.js",
);
export const { StreamableHTTPServerTransport } = await load<{
  StreamableHTTPServerTransport: Constructor<[Json], HttpTransport>;
}>("sdk/dist/esm/server/streamableHttp.js");
export const { ResultSchema, ElicitRequestSchema } = await load<{
  ResultSchema: unknown;
  ElicitRequestSchema: unknown;
}>("sdk/dist/esm/types.js");

export const { Client: ClientV1 } = await load<{ Client: Constructor<[Json, Json], ClientPeer> }>(
  "sdk/dist/esm/client/index.js",
);
export const { StreamableHTTPClientTransport: HttpTransportV1 } = await load<{
  StreamableHTTPClientTransport: Constructor<[URL], HttpClientTransport>;
}>("sdk/dist/esm/client/streamableHttp.js");
export const { Client: ClientV2, StreamableHTTPClientTransport: HttpTransportV2 } = await load<{
  Client: Constructor<[Json, Json], ClientPeer>;
  StreamableHTTPClientTransport: Constructor<[URL], HttpClientTransport>;
}>("client/dist/index.mjs");
