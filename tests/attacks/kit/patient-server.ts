/** A sound server with sessions that takes its time to accept what no answer is owed for, as ones do that keep it first. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

type Rpc = { id?: number; method?: string; params?: { name?: string; _meta?: { progressToken?: string } } };

const ACCEPTS_AFTER_MS = 100;

export class PatientServer implements AsyncDisposable {
  /** How many it was told of. */
  notices = 0;
  /** What it answered `ask` with: the request id of its question, by which a client says how far it is. */
  #asked = 0;
  readonly #http = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      if (request.method === "DELETE") return response.writeHead(200).end();
      if (request.method !== "POST") return response.writeHead(405).end();
      const { id, method, params } = JSON.parse(body) as Rpc;
      if (id === undefined || method === undefined) {
        if (method !== undefined) this.notices++;
        return setTimeout(() => response.writeHead(202).end(), ACCEPTS_AFTER_MS);
      }
      if (method === "tools/call" && params?.name === "ask") {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const token = `asked ${++this.#asked}`;
        const asked = {
          message: "?",
          requestedSchema: { type: "object", properties: {} },
          _meta: { progressToken: token },
        };
        const question = { jsonrpc: "2.0", id: this.#asked, method: "elicitation/create", params: asked };
        return response.write(`data: ${JSON.stringify(question)}\n\n`);
      }
      const headers = {
        "content-type": "application/json",
        ...(method === "initialize" && { "mcp-session-id": randomUUID() }),
      };
      response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: "2.0", id, result: resultOf(method) }));
    });
  });

  static async start(): Promise<PatientServer> {
    const server = new PatientServer();
    await new Promise<void>((resolve) => server.#http.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise<void>((resolve) => this.#http.close(() => resolve()));
  }
}

function resultOf(method: string): object {
  if (method === "initialize")
    return {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "patient", version: "1" },
    };
  const inputSchema = { type: "object" };
  if (method === "tools/list") return { tools: ["greet", "ask"].map((name) => ({ name, inputSchema })) };
  return method === "tools/call" ? { content: [{ type: "text", text: "hi" }] } : {};
}
