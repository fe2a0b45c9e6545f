/**
 * The official SDK, v1 and the client of v2, loaded by path from tests/parts. The types say only what is used here, so
 * that `npm run check` needs no installed parts. Each side loads only what it needs: the suite is impatient with servers
 * that are started for a call.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { pathOf } from "../needs/need.ts";
import { parts } from "../needs/programs.ts";

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
  /** Goes out outside of any call. */
  notification(notification: { method: string; params: Json }): Promise<void>;
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

export type Constructor<Options extends unknown[], Made> = new (...options: Options) => Made;

/** `path` is in the scope of the SDK's packages. */
export async function load<Module>(path: string): Promise<Module> {
  return (await import(pathToFileURL(join(pathOf(parts), "@modelcontextprotocol", path)).href)) as Module;
}
