/** A real authorization server on this machine (`oidc-provider`): whoever comes is logged in under the name they give. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pathToFileURL } from "node:url";
import { exportJWK, generateKeyPair } from "jose";
import { UserAgent } from "../../kit/user-agent.ts";
import { partPath } from "../real-parts/part.ts";

type ProviderModule = {
  default: new (issuer: string, configuration: object) => { callback(): (...exchange: unknown[]) => void };
};

/** What it gives out tokens for, and with which scope. */
export type Audiences = Readonly<Record<string, string>>;

export const REGISTERED_CLIENT = "registered";

export class AuthorizationServer implements AsyncDisposable {
  readonly issuer: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(audiences: Audiences): Promise<AuthorizationServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
    const started = new AuthorizationServer(server);
    const { default: Provider }: ProviderModule = await import(
      pathToFileURL(partPath("oidc-provider/lib/index.js")).href
    );
    const { privateKey } = await generateKeyPair("RS256", { extractable: true });
    const key = { ...(await exportJWK(privateKey)), kid: "one", use: "sig", alg: "RS256" };
    const provider = new Provider(started.issuer, configurationOf(audiences, key));
    server.on("request", provider.callback());
    return started;
  }

  /** Walks through its pages as a person would; resolves with the address that the client is sent back to. */
  async logIn(authorizationUrl: string, name: string): Promise<URL> {
    const agent = new UserAgent();
    let page = await agent.open(authorizationUrl);
    for (let pages = 0; page.text.includes("<form") && pages < 5; pages++) {
      page = await agent.submit(page, page.text.includes('name="login"') ? { login: name, password: "any" } : {});
    }
    return new URL(page.url);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function configurationOf(audiences: Audiences, key: object): object {
  return {
    jwks: { keys: [key] },
    scopes: ["openid", "offline_access", ...new Set(Object.values(audiences).flatMap((scope) => scope.split(" ")))],
    // Clients on this machine get their answers over plain HTTP.
    clientDefaults: { application_type: "native", grant_types: ["authorization_code", "refresh_token"] },
    ttl: { AccessToken: 600, Grant: 600, Interaction: 600, RefreshToken: 600, Session: 600 },
    // Known beforehand: a client that registers itself is bound to the scopes that it knows of then. Any port is its own.
    clients: [
      {
        client_id: REGISTERED_CLIENT,
        redirect_uris: ["http://127.0.0.1/callback"],
        token_endpoint_auth_method: "none",
      },
    ],
    cookies: { keys: ["a key of a test"] },
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: audiences[resource] ?? "",
          audience: resource,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  };
}
