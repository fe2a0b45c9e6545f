/** A server on the TypeScript SDK that is its own authorization server. Its tokens end at once, so that each call needs a new one. */
import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pathToFileURL } from "node:url";
import { partPath } from "../real-parts/part.ts";

type Client = { client_id: string; client_secret?: string; redirect_uris: string[] };
type Params = { state?: string; redirectUri: string; codeChallenge: string; scopes?: string[]; resource?: URL };
type App = { (...exchange: unknown[]): void; use(...parts: unknown[]): void; post(...parts: unknown[]): void };
type Exchange = [
  { auth?: { extra?: { how?: string } }; body: Rpc },
  { json(body: object): void; status(code: number): { end(): void } },
];
type Rpc = { id?: number; method: string };
type Parts = {
  express: { (): App; json(): unknown };
  mcpAuthRouter(options: object): unknown;
  requireBearerAuth(options: object): unknown;
};

const LIFE_S = 5;

export class TypeScriptIssuer implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async start(behaviour: "gives" | "refuses" = "gives"): Promise<TypeScriptIssuer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", makeApp(await parts(), new Provider(behaviour === "refuses"), origin));
    return new TypeScriptIssuer(server, `${origin}/mcp`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const AUTH = "@modelcontextprotocol/sdk/dist/esm/server/auth";
const load = async (path: string) => await import(pathToFileURL(partPath(path)).href);
const errors = () => load(`${AUTH}/errors.js`);

async function parts(): Promise<Parts> {
  const [{ default: express }, { mcpAuthRouter }, { requireBearerAuth }] = await Promise.all([
    load("express/index.js"),
    load(`${AUTH}/router.js`),
    load(`${AUTH}/middleware/bearerAuth.js`),
  ]);
  return { express, mcpAuthRouter, requireBearerAuth };
}

function makeApp({ express, mcpAuthRouter, requireBearerAuth }: Parts, provider: Provider, origin: string): App {
  const app = express();
  const issuerUrl = new URL(origin);
  const resourceServerUrl = new URL("/mcp", origin);
  app.use(mcpAuthRouter({ provider, issuerUrl, resourceServerUrl, scopesSupported: ["tools"] }));
  const resourceMetadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`;
  app.post(
    "/mcp",
    requireBearerAuth({ verifier: provider, resourceMetadataUrl }),
    express.json(),
    (...[request, response]: Exchange) => {
      const { id, method } = request.body;
      if (id === undefined) return response.status(202).end();
      response.json({ jsonrpc: "2.0", id, result: resultOf(method, request.auth?.extra?.how ?? "") });
    },
  );
  return app;
}

function resultOf(method: string, how: string): object {
  if (method === "initialize")
    return {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "typescript", version: "1" },
    };
  if (method === "tools/list") return { tools: [{ name: "whoami", inputSchema: { type: "object" } }] };
  return { content: [{ type: "text", text: how }] };
}

class Provider {
  readonly #clients = new Map<string, Client>();
  readonly #codes = new Map<string, Params>();
  readonly #access = new Map<string, { clientId: string; how: string }>();
  readonly #resources = new Map<string, URL | undefined>();
  readonly #isRefusing: boolean;
  readonly clientsStore = {
    getClient: (id: string) => this.#clients.get(id),
    registerClient: (client: Client) => {
      this.#clients.set(client.client_id, client);
      return client;
    },
  };

  constructor(isRefusing: boolean) {
    this.#isRefusing = isRefusing;
  }

  async authorize(_client: Client, params: Params, response: { redirect(url: string): void }): Promise<void> {
    const code = randomUUID();
    this.#codes.set(code, params);
    const answer = new URL(params.redirectUri);
    answer.search = new URLSearchParams({ code, ...(params.state && { state: params.state }) }).toString();
    response.redirect(answer.href);
  }

  async challengeForAuthorizationCode(_client: Client, code: string): Promise<string> {
    return this.#codes.get(code)?.codeChallenge ?? "";
  }

  async exchangeAuthorizationCode(client: Client, code: string, _verifier: string, _redirect: string, resource?: URL) {
    if (this.#isRefusing) {
      const { UnauthorizedClientError } = await errors();
      const said = `The licence of this \x1b[31mserver\u202e is over (${code}). ${"x".repeat(5000)}`;
      throw new UnauthorizedClientError(said);
    }
    this.#codes.delete(code);
    return this.#give(client, "code", resource);
  }

  async exchangeRefreshToken(client: Client, token: string) {
    const resource = this.#resources.get(token);
    if (!this.#resources.delete(token)) throw new Error("not known");
    return this.#give(client, "refresh", resource);
  }

  async verifyAccessToken(token: string) {
    const { clientId, how } = this.#access.get(token) ?? { clientId: "", how: "" };
    const { InvalidTokenError } = await errors();
    if (how === "") throw new InvalidTokenError("not known");
    return { token, clientId, scopes: ["tools"], expiresAt: Date.now() / 1000 + 300, extra: { how } };
  }

  #give({ client_id: clientId }: Client, how: string, resource: URL | undefined) {
    const [access, refresh] = [randomUUID(), randomUUID()];
    this.#access.set(access, { clientId, how: `${how} for ${resource}` });
    this.#resources.set(refresh, resource);
    return { access_token: access, token_type: "bearer", expires_in: LIFE_S, refresh_token: refresh, scope: "tools" };
  }
}
