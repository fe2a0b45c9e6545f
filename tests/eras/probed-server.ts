/**
 * Servers of both SDKs in every way in which one can ask them for their era: `probed-server.ts --kind …`. Each has one
 * tool, `heard`, which tells the methods that have reached the server so far.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { parseArgs } from "node:util";
import { listen, serveWeb } from "./listen.ts";
import { type Constructor, type Json, load, type Message, type Transport } from "./sdk.ts";

interface V1Server {
  fallbackRequestHandler?: (request: Message) => Promise<Json>;
  connect(transport: Transport): Promise<void>;
}
interface V2Server {
  setRequestHandler(method: string, handler: () => Promise<Json>): void;
  connect(transport: Transport): Promise<void>;
}
type HttpTransport = Transport & {
  handleRequest(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void>;
};
type Era = { readonly legacy?: string };

const INFO = { name: "eras-probed", version: "1.0.0" };
const CAPABILITIES = { tools: {} };
const heard: string[] = [];

const hear = (text: string) => {
  for (const line of text.split("\n").filter(Boolean)) heard.push(String((JSON.parse(line) as Message).method));
};
const answers: Readonly<Record<string, () => Json>> = {
  "tools/list": () => ({ tools: [{ name: "heard", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: JSON.stringify(heard) }] }),
};

async function serverV1(): Promise<V1Server> {
  const { Server } = await load<{ Server: Constructor<[Json, Json], V1Server> }>("sdk/dist/esm/server/index.js");
  const { McpError } = await load<{ McpError: Constructor<[number, string], Error> }>("sdk/dist/esm/types.js");
  const server = new Server(INFO, { capabilities: CAPABILITIES });
  server.fallbackRequestHandler = async ({ method }) => {
    const answer = answers[method];
    if (!answer) throw new McpError(-32601, "Method not found");
    return answer();
  };
  return server;
}

const v2 = () =>
  load<{
    Server: Constructor<[Json, Json], V2Server>;
    createMcpHandler(factory: () => V2Server, options: Era): { fetch(request: Request): Promise<Response> };
  }>("server/dist/index.mjs");
const v2Stdio = () =>
  load<{
    StdioServerTransport: Constructor<[], Transport>;
    serveStdio(factory: () => V2Server, options: Era): void;
  }>("server/dist/stdio.mjs");

async function factoryV2(): Promise<() => V2Server> {
  const { Server } = await v2();
  return () => {
    const server = new Server(INFO, { capabilities: CAPABILITIES });
    for (const [method, answer] of Object.entries(answers)) server.setRequestHandler(method, async () => answer());
    return server;
  };
}

async function httpV1(hasSessions: boolean): Promise<void> {
  const { StreamableHTTPServerTransport } = await load<{
    StreamableHTTPServerTransport: Constructor<[Json], HttpTransport>;
  }>("sdk/dist/esm/server/streamableHttp.js");
  const sessions = new Map<unknown, HttpTransport>();
  const open = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: hasSessions ? randomUUID : undefined,
      onsessioninitialized: (id: string) => void sessions.set(id, transport),
    });
    await (await serverV1()).connect(transport);
    return transport;
  };
  listen(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    hear(text);
    const transport = sessions.get(request.headers["mcp-session-id"]) ?? (await open());
    await transport.handleRequest(request, response, text === "" ? undefined : JSON.parse(text));
  });
}

async function httpV2(era: Era): Promise<void> {
  const handler = (await v2()).createMcpHandler(await factoryV2(), era);
  const handle = async (request: Request) => {
    hear(await request.clone().text());
    return handler.fetch(request);
  };
  listen((request, response) => void serveWeb(request, response, handle));
}

const KINDS: Readonly<Record<string, () => Promise<void>>> = {
  "v2-http": () => httpV2({}),
  "v2-http-reject": () => httpV2({ legacy: "reject" }),
  "v1-http-sessions": () => httpV1(true),
  "v1-http-stateless": () => httpV1(false),
  "v1-stdio": async () => {
    const { StdioServerTransport } = await load<{ StdioServerTransport: Constructor<[], Transport> }>(
      "sdk/dist/esm/server/stdio.js",
    );
    await (await serverV1()).connect(new StdioServerTransport());
  },
  "v2-stdio-by-hand": async () => {
    const { StdioServerTransport } = await v2Stdio();
    await (await factoryV2())().connect(new StdioServerTransport());
  },
  "v2-stdio": async () => (await v2Stdio()).serveStdio(await factoryV2(), {}),
  "v2-stdio-reject": async () => (await v2Stdio()).serveStdio(await factoryV2(), { legacy: "reject" }),
};

const { values } = parseArgs({ options: { kind: { type: "string", default: "" } } });
if (values.kind.includes("stdio")) process.stdin.on("data", (chunk: Buffer) => hear(chunk.toString("utf8")));
const start = KINDS[values.kind];
if (!start) throw new Error(`unknown kind: ${values.kind}`);
await start();
