/**
 * The official SDKs of both major versions, loaded by path from tests/parts. The types say only what is used here, so
 * that `npm run check` needs no installed parts.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { pathOf } from "../needs/need.ts";
import { parts } from "../needs/programs.ts";

export type Json = Record<string, unknown>;
export type Message = { readonly method: string; readonly params?: Json };

export interface Transport {
  onclose?: (() => void) | undefined;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: Json) => void;
}

/** What the clients of v1 and v2 have in common. */
export interface ClientPeer {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
  /** v1 takes a schema, v2 the name of the method. */
  setRequestHandler(request: unknown, handler: (request: Message) => Promise<Json>): void;
  setNotificationHandler(notification: unknown, handler: (notification: Message) => void): void;
  listTools(params: undefined, options: CallOptions): Promise<{ tools: { name: string }[] }>;
  listResources(params: undefined, options: CallOptions): Promise<{ resources: { uri: string }[] }>;
  listResourceTemplates(
    params: undefined,
    options: CallOptions,
  ): Promise<{ resourceTemplates: { uriTemplate: string }[] }>;
  readResource(params: Json, options: CallOptions): Promise<Json>;
  listPrompts(params: undefined, options: CallOptions): Promise<{ prompts: { name: string }[] }>;
  getPrompt(params: Json, options: CallOptions): Promise<Json>;
  complete(params: Json, options: CallOptions): Promise<{ completion: { values: string[] } }>;
  setLoggingLevel(level: string, options: CallOptions): Promise<unknown>;
  subscribeResource(params: Json, options: CallOptions): Promise<unknown>;
  unsubscribeResource(params: Json, options: CallOptions): Promise<unknown>;
}

export interface ClientPeerV1 extends ClientPeer {
  callTool(params: Json, resultSchema: undefined, options: CallOptions): Promise<Json>;
}

export interface ClientPeerV2 extends ClientPeer {
  callTool(params: Json, options: CallOptions): Promise<Json>;
  getNegotiatedProtocolVersion(): string | undefined;
  /** Only on 2026-07-28. */
  listen(filter: Json, options: CallOptions): Promise<{ close(): Promise<void> }>;
}

export type Constructor<Options extends unknown[], Made> = new (...options: Options) => Made;

export type HttpClientTransport = Transport & { terminateSession(): Promise<void> };

/** `path` is below the packages of the official SDK. */
export async function load<Module>(path: string): Promise<Module> {
  return (await import(pathToFileURL(join(pathOf(parts), "@modelcontextprotocol", path)).href)) as Module;
}
