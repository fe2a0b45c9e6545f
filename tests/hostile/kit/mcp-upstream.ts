/** An MCP server over Streamable HTTP inside the test, whose calls the test answers as it likes, down to the bytes. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { RpcMessage } from "../../e2e/kit/rpc.ts";

/** A message that the gateway sent, and the way back. */
export class UpstreamCall {
  readonly message: RpcMessage;
  /** The id of the session it came in; "" when there is none. */
  readonly session: string;
  readonly response: ServerResponse;
  readonly socket: Socket;

  constructor(message: RpcMessage, request: IncomingMessage, response: ServerResponse) {
    this.message = message;
    this.session = String(request.headers["mcp-session-id"] ?? "");
    this.response = response;
    this.socket = request.socket;
  }

  get args(): Record<string, unknown> {
    return (this.message.params?.arguments ?? {}) as Record<string, unknown>;
  }

  get progressToken(): unknown {
    return (this.message.params?._meta as { progressToken?: unknown } | undefined)?.progressToken;
  }

  /** Answers as JSON, or as the last event where the answer is already a stream. */
  answer(result: object): void {
    this.#last({ id: this.message.id, result });
  }

  fail(error: object): void {
    this.#last({ id: this.message.id, error });
  }

  answerText(text: string): void {
    this.answer({ content: [{ type: "text", text }] });
  }

  #last(message: object): void {
    if (this.response.headersSent) {
      this.send(message);
      this.response.end();
    } else {
      this.response.writeHead(200, { "content-type": "application/json" });
      this.response.end(JSON.stringify({ jsonrpc: "2.0", ...message }));
    }
  }

  /** Makes the answer a stream and says something before it. False: the socket is full. */
  send(message: object): boolean {
    if (!this.response.headersSent) this.response.writeHead(200, { "content-type": "text/event-stream" });
    return this.response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
  }

  progress(progress: number, more: object = {}): boolean {
    return this.send({
      method: "notifications/progress",
      params: { progressToken: this.progressToken, progress, ...more },
    });
  }
}

export type UpstreamOptions = {
  /** Names, or whole tools. */
  readonly tools: readonly (string | { name: string; annotations?: object; execution?: object })[];
  readonly capabilities?: object;
  /** Whether it gives each session an id, which makes the gateway open one per client. */
  readonly hasSessions?: boolean;
  /** Everything but initialize, lists, ping and the question for its era. */
  readonly onCall: (call: UpstreamCall) => void | Promise<void>;
  /** Sees each request first; true: it has dealt with it. */
  readonly onRequest?: (message: RpcMessage, request: IncomingMessage, response: ServerResponse) => boolean;
};

export class McpUpstream {
  /** What came, in order, with the notifications and the answers to its own questions. */
  readonly heard: RpcMessage[] = [];
  readonly ended: string[] = [];
  readonly #options: UpstreamOptions;
  readonly #server: Server;

  private constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      response.on("error", () => {});
      void this.#take(request, response);
    });
    this.#server.on("connection", (socket) => socket.on("error", () => {}));
    this.#server.keepAliveTimeout = 60_000;
  }

  static async start(options: UpstreamOptions): Promise<McpUpstream> {
    const upstream = new McpUpstream(options);
    await new Promise<void>((resolve) => upstream.#server.listen(0, "127.0.0.1", resolve));
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  get sockets(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.#server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  }

  /** The table that puts it behind a gateway. */
  table(id: string, more = ""): string {
    return `[[servers]]\nid = "${id}"\nera = "2025"\nurl = "${this.url}"\n${more}\n`;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST") {
      if (request.method === "DELETE") this.ended.push(String(request.headers["mcp-session-id"]));
      response.writeHead(request.method === "DELETE" ? 200 : 405).end();
      return;
    }
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const message = JSON.parse(Buffer.concat(parts).toString()) as RpcMessage;
    this.heard.push(message);
    if (this.#options.onRequest?.(message, request, response)) return;
    if (message.id === undefined || message.method === undefined) {
      response.writeHead(202).end();
      return;
    }
    const call = new UpstreamCall(message, request, response);
    if (message.method === "initialize") this.#initialize(call);
    else if (message.method === "tools/list") call.answer({ tools: this.#tools() });
    else if (message.method === "ping") call.answer({});
    else if (message.method === "server/discover") call.fail({ code: -32601, message: "unknown method" });
    else await this.#options.onCall(call);
  }

  #initialize(call: UpstreamCall): void {
    if (this.#options.hasSessions) call.response.setHeader("mcp-session-id", randomUUID());
    call.answer({
      protocolVersion: "2025-11-25",
      capabilities: { tools: {}, ...this.#options.capabilities },
      serverInfo: { name: "upstream", version: "1" },
    });
  }

  #tools(): object[] {
    const schema = { inputSchema: { type: "object" } };
    return this.#options.tools.map((tool) => ({ ...schema, ...(typeof tool === "string" ? { name: tool } : tool) }));
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
