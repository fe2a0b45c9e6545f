/**
 * The server of SDK v2: `--mode legacy` serves only 2025-11-25, with sessions, and its SDK pushes the questions;
 * `--mode modern` serves only 2026-07-28.
 */
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { CAPABILITIES, callTool, type FixtureCall, listTools, PLAIN } from "./fixture.ts";
import { listen, serveWeb } from "./listen.ts";
import { type Constructor, type Json, load, type Message, type Transport } from "./sdk.ts";

interface Context {
  readonly mcpReq: {
    readonly signal: AbortSignal;
    readonly _meta?: { readonly progressToken?: string | number };
    readonly inputResponses?: Record<string, Json>;
    notify(notification: Message): Promise<void>;
    log(level: string, data: unknown): Promise<void>;
  };
}
interface ServerPeer {
  setRequestHandler(method: string, handler: (request: Message, context: Context) => Promise<Json>): void;
  connect(transport: Transport): Promise<void>;
  notification(notification: Message): Promise<void>;
}
type WebTransport = Transport & { handleRequest(request: Request): Promise<Response> };
type Handler = {
  fetch(request: Request): Promise<Response>;
  readonly notify: { toolsChanged(): void; resourceUpdated(uri: string): void };
};

const sdk = await load<{
  Server: Constructor<[Json, Json], ServerPeer>;
  WebStandardStreamableHTTPServerTransport: Constructor<[Json], WebTransport>;
  ProtocolError: Constructor<[number, string, Json?], Error>;
  ResourceNotFoundError: Constructor<[string], Error>;
  createMcpHandler(factory: () => ServerPeer, options: Json): Handler;
}>("server/dist/index.mjs");

const { values } = parseArgs({ options: { mode: { type: "string", default: "modern" } } });
const serve = values.mode === "modern" ? modern() : legacy();
listen((request, response) => void serveWeb(request, response, serve));

/** How a call tells others of a change. */
type Changes = Pick<FixtureCall, "updated" | "toolsChanged">;

function modern(): (request: Request) => Promise<Response> {
  const changes: Changes = {
    updated: async (uri) => handler.notify.resourceUpdated(uri),
    toolsChanged: async () => handler.notify.toolsChanged(),
  };
  const handler = sdk.createMcpHandler(() => createServer(() => changes), { legacy: "reject" });
  return (request) => handler.fetch(request);
}

function legacy(): (request: Request) => Promise<Response> {
  const sessions = new Map<string, WebTransport>();
  return async (request) => {
    const session = sessions.get(request.headers.get("mcp-session-id") ?? "");
    return (session ?? (await openSession(sessions))).handleRequest(request);
  };
}

async function openSession(sessions: Map<string, WebTransport>): Promise<WebTransport> {
  const transport = new sdk.WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id: string) => void sessions.set(id, transport),
    onsessionclosed: (id: string) => void sessions.delete(id),
  });
  const subscribed = new Set<unknown>();
  const server = createServer(() => ({
    updated: async (uri) => {
      if (subscribed.has(uri))
        await server.notification({ method: "notifications/resources/updated", params: { uri } });
    },
    toolsChanged: () => server.notification({ method: "notifications/tools/list_changed" }),
  }));
  server.setRequestHandler("resources/subscribe", async ({ params }) => {
    subscribed.add(params?.uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", async ({ params }) => {
    subscribed.delete(params?.uri);
    return {};
  });
  await server.connect(transport);
  return transport;
}

function createServer(changes: () => Changes): ServerPeer {
  const server = new sdk.Server({ name: "eras-v2", version: "1.0.0" }, { capabilities: CAPABILITIES });
  server.setRequestHandler("tools/list", async () => listTools());
  server.setRequestHandler("tools/call", async ({ params = {} }, context) => {
    const running = callTool(params.name, fixtureCall(params, context, changes()));
    if (running === undefined) throw new sdk.ProtocolError(-32602, `Unknown tool: ${params.name}`);
    const outcome = await running;
    return "result" in outcome ? outcome.result : { resultType: "input_required", inputRequests: outcome.ask };
  });
  for (const [method, answer] of Object.entries(PLAIN)) {
    server.setRequestHandler(method, async ({ params = {} }) => {
      const result = answer(params);
      if (result !== undefined) return result;
      if (method === "resources/read") throw new sdk.ResourceNotFoundError(String(params.uri));
      throw new sdk.ProtocolError(-32602, "Not found");
    });
  }
  return server;
}

function fixtureCall(params: Json, { mcpReq }: Context, changes: Changes): FixtureCall {
  return {
    ...changes,
    args: (params.arguments ?? {}) as Json,
    answers: mcpReq.inputResponses,
    signal: mcpReq.signal,
    progress: async (progress, total) => {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken === undefined) return;
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total } });
    },
    log: (level, data) => mcpReq.log(level, data),
  };
}
