/** An MCP server of 2025 that lets nobody in without a token of its issuer, made for it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createRemoteJWKSet, jwtVerify } from "jose";

type Rpc = { id?: number; method: string; params?: { name?: string } };

const RESULTS: Readonly<Record<string, (user: string, rpc: Rpc) => object>> = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: "protected", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "whoami", inputSchema: { type: "object" } }] }),
  "tools/call": (user) => ({ content: [{ type: "text", text: user }] }),
  "resources/list": () => ({ resources: [{ uri: "note://one", name: "one" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/read": (user) => ({ contents: [{ uri: "note://one", text: user }] }),
  "prompts/list": () => ({ prompts: [{ name: "hello" }] }),
  "prompts/get": (user) => ({ messages: [{ role: "user", content: { type: "text", text: user } }] }),
};

export class ProtectedServer implements AsyncDisposable {
  readonly url: string;
  /** Every token it was shown, in order. */
  readonly tokens: string[] = [];
  /** Methods that came without one. */
  readonly bare: string[] = [];
  readonly #server: Server;
  readonly #issuer: string;
  readonly #distrusted = new Set<string>();
  readonly #keys: ReturnType<typeof createRemoteJWKSet>;

  private constructor(server: Server, issuer: string) {
    const { port } = server.address() as AddressInfo;
    this.#server = server;
    this.#issuer = issuer;
    this.#keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
    this.url = `http://127.0.0.1:${port}/mcp`;
  }

  static async start(issuer: string, port = 0): Promise<ProtectedServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port }, resolve));
    const started = new ProtectedServer(server, issuer);
    server.on("request", (request, response) => void started.#handle(request, response));
    return started;
  }

  /** Takes none of the tokens any more that it has seen so far. */
  distrust(): void {
    for (const token of this.tokens) this.#distrusted.add(token);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/.well-known/oauth-protected-resource/mcp") {
      const document = { resource: this.url, authorization_servers: [this.#issuer], scopes_supported: ["tools"] };
      return void json(response, 200, document);
    }
    if (request.method !== "POST") return void response.writeHead(405).end();
    const rpc: Rpc = JSON.parse(await textOf(request));
    const user = await this.#userOf(request, rpc);
    if (user === undefined) {
      const document = new URL("/.well-known/oauth-protected-resource/mcp", this.url);
      response.setHeader("WWW-Authenticate", `Bearer resource_metadata="${document.href}"`);
      return void json(response, 401, { error: "invalid_token" });
    }
    const result = RESULTS[rpc.method]?.(user, rpc);
    if (rpc.id === undefined) response.writeHead(202).end();
    else if (result) json(response, 200, { jsonrpc: "2.0", id: rpc.id, result });
    else json(response, 200, { jsonrpc: "2.0", id: rpc.id, error: { code: -32601, message: "unknown" } });
  }

  async #userOf({ headers }: IncomingMessage, { method }: Rpc): Promise<string | undefined> {
    const [, token] = /^Bearer (.+)$/.exec(headers.authorization ?? "") ?? [];
    if (token === undefined) return void this.bare.push(method);
    this.tokens.push(token);
    if (this.#distrusted.has(token)) return undefined;
    try {
      const { payload } = await jwtVerify(token, this.#keys, { issuer: this.#issuer, audience: this.url });
      return String(payload.sub);
    } catch {
      return undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += part;
  return text;
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
