/** The official clients, with a person behind them who logs in where they are sent. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pathToFileURL } from "node:url";
import { partPath } from "../real-parts/part.ts";

type Transport = { finishAuth(code: string, issuer?: string): Promise<void> };
type Client = {
  connect(transport: Transport): Promise<void>;
  callTool(call: { name: string; arguments: object }): Promise<{ content?: unknown; isError?: boolean }>;
  close(): Promise<void>;
};
type Constructors = {
  readonly Client: new (info: { name: string; version: string }) => Client;
  readonly StreamableHTTPClientTransport: new (url: URL, options: { authProvider: MemoryAuth }) => Transport;
};

export type SdkName = "v1" | "v2";

async function load(sdk: SdkName): Promise<Constructors> {
  const from = (path: string) => import(pathToFileURL(partPath(path)).href);
  if (sdk === "v2") return await from("@modelcontextprotocol/client/dist/index.mjs");
  const root = "@modelcontextprotocol/sdk/dist/esm/client";
  return { ...(await from(`${root}/index.js`)), ...(await from(`${root}/streamableHttp.js`)) };
}

/** Keeps what a client must remember between two tries, as the interface of both SDKs wants it. */
export class MemoryAuth {
  readonly redirectUrl: string;
  readonly sentTo: URL[] = [];
  #client: unknown;
  #tokens: { access_token: string } | undefined;
  #verifier = "";
  #discovery: unknown;

  constructor(redirectUrl: string) {
    this.redirectUrl = redirectUrl;
  }

  get clientMetadata() {
    return {
      client_name: "e2e",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  clientInformation = () => this.#client;
  saveClientInformation = (client: unknown) => {
    this.#client = client;
  };
  tokens = () => this.#tokens;
  saveTokens = (tokens: { access_token: string }) => {
    this.#tokens = tokens;
  };
  redirectToAuthorization = (url: URL) => void this.sentTo.push(url);
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
  saveDiscoveryState = (state: unknown) => {
    this.#discovery = state;
  };
  discoveryState = () => this.#discovery;
}

export class AuthorizedClient implements AsyncDisposable {
  readonly auth: MemoryAuth;
  readonly #callback: Server;
  readonly #constructors: Constructors;
  #client: Client | undefined;

  private constructor(callback: Server, constructors: Constructors) {
    this.#callback = callback;
    this.#constructors = constructors;
    this.auth = new MemoryAuth(`http://127.0.0.1:${(callback.address() as AddressInfo).port}/callback`);
  }

  static async make(sdk: SdkName): Promise<AuthorizedClient> {
    const callback = createServer((_request, response) => response.end("You may close this page."));
    await new Promise<void>((resolve) => callback.listen({ host: "127.0.0.1", port: 0 }, resolve));
    return new AuthorizedClient(callback, await load(sdk));
  }

  /** Connects; where it is turned away, `logIn` walks to the address and comes back with the answer. */
  async connect(url: string, logIn: (authorizationUrl: string) => Promise<URL>): Promise<Client> {
    try {
      return await this.#open(url);
    } catch (error) {
      if (this.auth.sentTo.length === 0) throw error;
      return await this.finish(url, logIn);
    }
  }

  /** Goes where it was sent last, and connects with what it got there. */
  async finish(url: string, logIn: (authorizationUrl: string) => Promise<URL>): Promise<Client> {
    const answer = (await logIn(this.auth.sentTo.at(-1)?.href ?? "")).searchParams;
    await this.#transport(url).finishAuth(answer.get("code") ?? "", answer.get("iss") ?? undefined);
    await this.#client?.close();
    return await this.#open(url);
  }

  #transport(url: string): Transport {
    return new this.#constructors.StreamableHTTPClientTransport(new URL(url), { authProvider: this.auth });
  }

  async #open(url: string): Promise<Client> {
    const client = new this.#constructors.Client({ name: "e2e", version: "1" });
    await client.connect(this.#transport(url));
    this.#client = client;
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.close();
    this.#callback.closeAllConnections();
    await new Promise((resolve) => this.#callback.close(resolve));
  }
}
