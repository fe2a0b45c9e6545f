/** A real authorization server (`oidc-provider`) whose grants a test can take back. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pathToFileURL } from "node:url";
import { exportJWK, generateKeyPair } from "jose";
import { UserAgent } from "../../kit/user-agent.ts";
import { partPath } from "../real-parts/part.ts";

type Grant = { destroy(): Promise<void> };
type GrantContext = { oidc: { entities: { Grant?: { jti: string } }; params: { grant_type: string } } };
type Provider = {
  readonly Grant: { find(id: string): Promise<Grant | undefined> };
  callback(): (...exchange: unknown[]) => void;
  on(event: "grant.success", hear: (context: GrantContext) => void): void;
};
type ProviderModule = { default: new (issuer: string, configuration: object) => Provider };

export class Issuer implements AsyncDisposable {
  readonly url: string;
  /** What it has given tokens for. */
  readonly grants: string[] = [];
  readonly #server: Server;
  readonly #grants = new Set<string>();
  #provider: Provider | undefined;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<Issuer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
    const issuer = new Issuer(server);
    const { default: Provider }: ProviderModule = await import(
      pathToFileURL(partPath("oidc-provider/lib/index.js")).href
    );
    const provider = new Provider(issuer.url, await configuration());
    provider.on("grant.success", ({ oidc: { entities, params } }) => {
      issuer.grants.push(params.grant_type);
      if (entities.Grant) issuer.#grants.add(entities.Grant.jti);
    });
    server.on("request", provider.callback());
    issuer.#provider = provider;
    return issuer;
  }

  /** What anybody has agreed to is worth nothing any more. */
  async revokeAll(): Promise<void> {
    for (const id of this.#grants) await (await this.#provider?.Grant.find(id))?.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Opens a link of the gateway's, logs in under this name, agrees, and comes back. Resolves to the last page. */
export async function signIn(link: string, name: string, agent = new UserAgent()) {
  let page = await agent.open(link);
  for (let pages = 0; page.text.includes("<form") && pages < 6; pages++) {
    page = await agent.submit(page, page.text.includes('name="login"') ? { login: name, password: "any" } : {});
  }
  return page;
}

async function configuration(): Promise<object> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: "one", use: "sig", alg: "RS256" }] },
    scopes: ["openid", "offline_access", "tools"],
    clientDefaults: { application_type: "native" },
    cookies: { keys: ["a key of a test"] },
    ttl: { AccessToken: 600, Grant: 600, Interaction: 600, RefreshToken: 600, Session: 600 },
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, audience: string) => ({
          scope: "tools",
          audience,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  };
}
