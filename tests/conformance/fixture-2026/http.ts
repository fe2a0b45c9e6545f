/** Streamable HTTP of 2026-07-28: one POST for each request, and no sessions. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Json } from "../sdk.ts";
import { respond, type Stream } from "./fixture.ts";
import { checkHeaders } from "./headers.ts";
import { type Envelope, isObject, type Request, readEnvelope } from "./protocol.ts";

/** HTTP status of errors that have one; all others are answers like any other. */
const STATUS: Readonly<Record<number, number>> = {
  [-32700]: 400,
  [-32600]: 400,
  [-32601]: 404,
  [-32020]: 400,
  [-32021]: 400,
  [-32022]: 400,
};

/** Serves `/mcp` on loopback; resolves with the port, which is a free one for 0. */
export async function serveHttp(port: number): Promise<number> {
  const server = createServer((request, response) => void handle(request, response, portOf(server)));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return portOf(server);
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function handle(request: IncomingMessage, response: ServerResponse, port: number): Promise<void> {
  if (request.url !== "/mcp") return refuse(response, 404, -32600, "Not found");
  if (!isLocal(request, port)) return refuse(response, 403, -32600, "Host or Origin not allowed");
  if (request.method !== "POST") return refuse(response.setHeader("allow", "POST"), 405, -32600, "Method not allowed");
  const message = parse(await text(request));
  if (!isObject(message) || typeof message.method !== "string") {
    return refuse(response, 400, message === undefined ? -32700 : -32600, "Not a JSON-RPC request");
  }
  if (message.id === undefined) return void response.writeHead(202).end();
  await answer({ params: {}, ...message } as Request, request, response);
}

async function answer(message: Request, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const controller = new AbortController();
  response.once("close", () => controller.abort());
  const stream: Stream = {
    send(notification) {
      if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(event(notification));
    },
    signal: controller.signal,
  };
  let isRefused = false;
  const open = (): Envelope => {
    isRefused = true;
    const envelope = readEnvelope(message, String(request.headers["mcp-protocol-version"]));
    checkHeaders(request.headers, message);
    isRefused = false;
    return envelope;
  };
  const answered = await respond(message, open, stream);
  if (answered === undefined) return;
  if (response.headersSent) return void response.end(event(answered));
  const code = (answered.error as { code: number } | undefined)?.code;
  const status = isRefused ? 400 : (STATUS[code ?? 0] ?? 200);
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answered));
}

function event(message: Json): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

/** Undefined if it is not JSON. */
function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Keeps out web pages that reach us by a name that resolves to loopback. */
function isLocal({ headers }: IncomingMessage, port: number): boolean {
  const hosts = ["127.0.0.1", "localhost", "[::1]"].map((host) => `${host}:${port}`);
  const isLocalHost = hosts.includes(headers.host ?? "");
  return isLocalHost && (headers.origin === undefined || hosts.some((host) => headers.origin === `http://${host}`));
}

function refuse(response: ServerResponse, status: number, code: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } }));
}
