/** The server of SDK v1 with sessions: 2025-11-25, questions and changes pushed to the client. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { CAPABILITIES, callTool, type FixtureCall, listTools, PLAIN } from "./fixture.ts";
import { listen } from "./listen.ts";
import { type Constructor, type Json, load, type Message, type Transport } from "./sdk.ts";

interface Exchange {
  readonly signal: AbortSignal;
  readonly _meta?: { readonly progressToken?: string | number };
  sendNotification(notification: Message): Promise<void>;
  sendRequest(request: Message, resultSchema: unknown): Promise<Json>;
}
interface ServerPeer {
  fallbackRequestHandler?: (request: Message, exchange: Exchange) => Promise<Json>;
  removeRequestHandler(method: string): void;
  connect(transport: Transport): Promise<void>;
  notification(notification: Message): Promise<void>;
}
interface HttpTransport extends Transport {
  handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

const { Server } = await load<{ Server: Constructor<[Json, Json], ServerPeer> }>("sdk/dist/esm/server/index.js");
const { StreamableHTTPServerTransport } = await load<{
  StreamableHTTPServerTransport: Constructor<[Json], HttpTransport>;
}>("sdk/dist/esm/server/streamableHttp.js");
const { ResultSchema, McpError } = await load<{
  ResultSchema: unknown;
  McpError: Constructor<[number, string, Json?], Error>;
}>("sdk/dist/esm/types.js");

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const sessions = new Map<string, HttpTransport>();

listen(async (request, response) => {
  const session = sessions.get(String(request.headers["mcp-session-id"]));
  await (session ?? (await openSession())).handleRequest(request, response);
});

async function openSession(): Promise<HttpTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id: string) => void sessions.set(id, transport),
    onsessionclosed: (id: string) => void sessions.delete(id),
  });
  await createServer().connect(transport);
  return transport;
}

function createServer(): ServerPeer {
  const server = new Server({ name: "eras-v1", version: "1.0.0" }, { capabilities: CAPABILITIES });
  server.removeRequestHandler("logging/setLevel");
  const subscribed = new Set<unknown>();
  let level = "debug";
  server.fallbackRequestHandler = async ({ method, params = {} }, exchange) => {
    if (method === "logging/setLevel") {
      level = String(params.level);
    } else if (method === "resources/subscribe") {
      subscribed.add(params.uri);
    } else if (method === "resources/unsubscribe") {
      subscribed.delete(params.uri);
    } else if (method === "tools/list") {
      return listTools();
    } else if (method === "tools/call") {
      return runTool(params, exchange, { server, subscribed, level });
    } else {
      return plain(method, params);
    }
    return {};
  };
  return server;
}

function plain(method: string, params: Json): Json {
  const answer = PLAIN[method];
  if (answer === undefined) throw new McpError(-32601, "Method not found");
  const result = answer(params);
  if (result !== undefined) return result;
  throw new McpError(method === "resources/read" ? -32002 : -32602, "Not found", { uri: params.uri });
}

type Session = { readonly server: ServerPeer; readonly subscribed: ReadonlySet<unknown>; readonly level: string };

async function runTool(params: Json, exchange: Exchange, session: Session): Promise<Json> {
  let answers: Record<string, Json> | undefined;
  for (;;) {
    const running = callTool(params.name, fixtureCall(params, exchange, session, answers));
    if (running === undefined) throw new McpError(-32602, `Unknown tool: ${params.name}`);
    const outcome = await running;
    if ("result" in outcome) return outcome.result;
    const asked = Object.entries(outcome.ask).map(
      async ([key, question]) => [key, await exchange.sendRequest(question, ResultSchema)] as const,
    );
    answers = Object.fromEntries(await Promise.all(asked));
  }
}

function fixtureCall(
  params: Json,
  { _meta, signal, sendNotification }: Exchange,
  { server, subscribed, level }: Session,
  answers: Record<string, Json> | undefined,
): FixtureCall {
  return {
    args: (params.arguments ?? {}) as Json,
    answers,
    signal,
    progress: async (progress, total) => {
      const progressToken = _meta?.progressToken;
      if (progressToken === undefined) return;
      await sendNotification({ method: "notifications/progress", params: { progressToken, progress, total } });
    },
    log: async (at, data) => {
      if (LEVELS.indexOf(at) < LEVELS.indexOf(level)) return;
      await sendNotification({ method: "notifications/message", params: { level: at, data } });
    },
    updated: async (uri) => {
      if (subscribed.has(uri))
        await server.notification({ method: "notifications/resources/updated", params: { uri } });
    },
    toolsChanged: () => server.notification({ method: "notifications/tools/list_changed" }),
  };
}
