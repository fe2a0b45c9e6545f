/** Streamable HTTP with sessions: one transport and one server each. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Constructor, type HttpTransport, type Json, load } from "../sdk.ts";
import { createEventStore } from "./event-store.ts";
import { createFixture } from "./fixture.ts";

const { StreamableHTTPServerTransport } = await load<{
  StreamableHTTPServerTransport: Constructor<[Json], HttpTransport>;
}>("sdk/dist/esm/server/streamableHttp.js");

/** Told to clients in the first event of each stream: how long to wait before resuming it. */
const RETRY_MS = 100;

/** Serves `/mcp` on loopback; resolves with the port, which is a free one for 0. */
export async function serveHttp(port: number): Promise<number> {
  const sessions = new Map<string, HttpTransport>();
  const server = createServer((request, response) => void handle(request, response));

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers["mcp-session-id"];
    if (request.url !== "/mcp") return refuse(response, 404, "Not found");
    if (id === undefined) return await open(request, response);
    const transport = sessions.get(String(id));
    // 404, not 400: it tells the client to start a new session.
    if (transport === undefined) return refuse(response, 404, "Session not found");
    await transport.handleRequest(request, response);
  }

  async function open(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const transport: HttpTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id: string) => sessions.set(id, transport),
      onsessionclosed: (id: string) => sessions.delete(id),
      eventStore: createEventStore(),
      retryInterval: RETRY_MS,
      ...rebindingProtection(server),
    });
    await createFixture().connect(transport);
    await transport.handleRequest(request, response);
    // Not an initialize: the transport has refused it, and no one will come back to it.
    if (transport.sessionId === undefined) await transport.close();
  }

  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return portOf(server);
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function rebindingProtection(server: Server) {
  const allowedHosts = ["127.0.0.1", "localhost", "[::1]"].map((host) => `${host}:${portOf(server)}`);
  const allowedOrigins = allowedHosts.map((host) => `http://${host}`);
  return { enableDnsRebindingProtection: true, allowedHosts, allowedOrigins };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message } }));
}
