/** A site of somebody else: its pages, at an origin that has nothing to do with the gateway's. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** By path: HTML, or a script where the path says so. */
export type SitePages = Readonly<Record<string, string>>;

export class Site implements AsyncDisposable {
  readonly #server: Server;
  /** Every request it got, with what the browser told about where it came from. */
  readonly referrers: (string | undefined)[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(pages: SitePages): Promise<Site> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
    const site = new Site(server);
    server.on("request", (request, response) => {
      const path = (request.url ?? "").split("?", 1)[0] ?? "";
      const body = pages[path];
      if (body !== undefined) site.referrers.push(request.headers.referer);
      const type = path.endsWith(".js") ? "text/javascript" : "text/html";
      response.writeHead(body === undefined ? 404 : 200, { "content-type": `${type}; charset=utf-8` }).end(body ?? "");
    });
    return site;
  }

  /** Under a name of its own, or under a name that is the gateway's too. */
  origin(host = "evil.example"): string {
    return `http://${host}:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
