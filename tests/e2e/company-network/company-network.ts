/**
 * The network of a company, on loopback: a registry of packages that shows a certificate of the company's own authority, at a
 * name that nobody outside can resolve, and a proxy that is the only way to it and wants a password.
 */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer as createHttp, type IncomingMessage, type Server } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { pathOf } from "../../needs/need.ts";
import { openssl } from "../../needs/programs.ts";

const HOST = "registry.company.test";
const PASSWORD = "proxy-pass-91";

/** What the registry has at each path. */
export type Files = Readonly<Record<string, string | Buffer>>;

export class CompanyNetwork implements AsyncDisposable {
  readonly registryUrl = `https://${HOST}/`;
  readonly authority: string;
  /** What was asked for through the proxy. */
  readonly asked: string[] = [];
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  #proxyPort = 0;

  private constructor(folder: string) {
    this.authority = join(folder, "ca.crt");
  }

  /** Whatever it needs is written into `folder`. */
  static async open(folder: string, pack: (folder: string, registryUrl: string) => Files): Promise<CompanyNetwork> {
    const network = new CompanyNetwork(folder);
    makeCertificates(folder);
    const files = pack(folder, network.registryUrl);
    const tls = { key: readFileSync(join(folder, "registry.key")), cert: readFileSync(join(folder, "registry.crt")) };
    const registry = createHttps(tls, (request, response) => {
      network.asked.push(request.url ?? "");
      const file = files[request.url ?? ""];
      // An index of Python is pages, and is refused as anything else.
      const type = request.url?.endsWith("/") ? "text/html" : "application/octet-stream";
      response.writeHead(file === undefined ? 404 : 200, { "content-type": type }).end(file ?? "{}");
    });
    const registryPort = await network.#listen(registry);
    const proxy = createHttp((_request, response) => response.writeHead(405).end());
    proxy.on("connect", (request, client: Socket) => network.#tunnel(request, client, registryPort));
    network.#proxyPort = await network.#listen(proxy);
    return network;
  }

  get proxyUrl(): string {
    return `http://staff:${PASSWORD}@${this.proxyHost}`;
  }

  get proxyHost(): string {
    return `127.0.0.1:${this.#proxyPort}`;
  }

  #tunnel(request: IncomingMessage, client: Socket, registryPort: number): void {
    client.on("error", () => {});
    const wanted = `Basic ${Buffer.from(`staff:${PASSWORD}`).toString("base64")}`;
    if (request.headers["proxy-authorization"] !== wanted) {
      client.end("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    if (request.url !== `${HOST}:443`) {
      client.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    const upstream = connect(registryPort, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on("error", () => client.destroy());
  }

  #listen(server: Server): Promise<number> {
    this.#servers.push(server);
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    return new Promise((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

function makeCertificates(folder: string): void {
  const make = (name: string, ...more: readonly string[]) => {
    const key = [
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-keyout",
      join(folder, `${name}.key`),
    ];
    const out = ["-days", "30", "-out", join(folder, `${name}.crt`)];
    execFileSync(pathOf(openssl), ["req", "-x509", ...key, "-subj", `/CN=${name}`, ...more, ...out], {
      stdio: "ignore",
    });
  };
  // Python 3.13 takes no authority that does not say what its key is for.
  make("ca", "-addext", "keyUsage=critical,keyCertSign,cRLSign");
  const signed = ["-CA", join(folder, "ca.crt"), "-CAkey", join(folder, "ca.key")];
  make("registry", "-addext", `subjectAltName=DNS:${HOST}`, "-addext", "basicConstraints=critical,CA:FALSE", ...signed);
}
