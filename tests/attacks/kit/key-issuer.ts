/** Somebody who signs tokens with keys of several kinds, one of them too small, and publishes all of them. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

const KEYS = {
  RS256: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  small: generateKeyPairSync("rsa", { modulusLength: 1024 }),
};

/** What its tokens are for. */
const AUDIENCE = "the-gateway";

export class KeyIssuer implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  #count = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<KeyIssuer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
    const issuer = new KeyIssuer(server);
    server.on("request", ({ url }, response) => {
      const document = url === "/keys" ? keySet() : { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` };
      response.setHeader("content-type", "application/json").end(JSON.stringify(document));
    });
    return issuer;
  }

  /** A good token but for what is said otherwise; no two are the same. */
  token(claims: object = {}, kind: keyof typeof KEYS = "RS256"): string {
    const now = Math.floor(Date.now() / 1000);
    const about = { iss: this.url, aud: AUDIENCE, sub: "ann", azp: "app", exp: now + 600, jti: String(++this.#count) };
    const header = { alg: kind === "small" ? "RS256" : kind, kid: kind };
    const text = [header, { ...about, ...claims }].map(encode).join(".");
    return `${text}.${signature(text, KEYS[kind].privateKey).toString("base64url")}`;
  }

  /** As a table of the gateway's config. */
  table(more = ""): string {
    return `[[auth.issuers]]\nurl = "${this.url}"\naudience = ["${AUDIENCE}"]\n${more}\n`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function signature(text: string, key: KeyObject): Buffer {
  return sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
}

function keySet(): object {
  const jwk = (kid: string, { publicKey }: { publicKey: KeyObject }) => ({
    ...publicKey.export({ format: "jwk" }),
    kid,
  });
  return { keys: Object.entries(KEYS).map(([kid, pair]) => jwk(kid, pair)) };
}
