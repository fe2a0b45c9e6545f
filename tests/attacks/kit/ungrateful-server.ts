/** A server of 2024 (HTTP+SSE) that pings on each stream, on and on, and never answers the POSTs of what it is answered. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const PINGS = 40;
const EVERY_MS = 100;

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2024-11-05",
    capabilities: { tools: {} },
    serverInfo: { name: "ungrateful", version: "1" },
  },
  "tools/list": { tools: [{ name: "t", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "CALLED" }] },
};

export class UngratefulServer implements AsyncDisposable {
  readonly url: string;
  /** POSTs that were never answered, at one time. */
  most = 0;
  #held = 0;
  readonly #streams: ServerResponse[] = [];
  readonly #server: Server;
  readonly #pinging: NodeJS.Timeout;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`;
    this.#pinging = setInterval(() => this.#ping(), EVERY_MS);
  }

  static async start(): Promise<UngratefulServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
    const started = new UngratefulServer(server);
    server.on("request", (request, response) => void started.#take(request, response));
    return started;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`event: endpoint\ndata: /messages?at=${this.#streams.push(response) - 1}\n\n`);
      return;
    }
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { id, method } = JSON.parse(body) as { id?: unknown; method?: string };
    if (method === undefined) return this.#hold(request);
    response.writeHead(202).end();
    const at = Number(new URL(request.url ?? "", this.url).searchParams.get("at"));
    if (id !== undefined) this.#say(at, { id, result: RESULTS[method] ?? {} });
  }

  #hold(request: IncomingMessage): void {
    this.#held++;
    this.most = Math.max(this.most, this.#held);
    request.socket.once("close", () => {
      this.#held--;
    });
  }

  #ping(): void {
    for (const at of this.#streams.keys())
      for (let number = 0; number < PINGS; number++) this.#say(at, { id: `p${number}`, method: "ping" });
  }

  #say(at: number, message: object): void {
    const stream = this.#streams[at];
    if (!stream?.destroyed)
      stream?.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#pinging);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
