/**
 * Owns the socket: what Node does with connections, and which part answers which path. What a message means is the
 * business of the fronts.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Log } from "../contract/index.ts";
import type { McpFront } from "../fronts/mcp/index.ts";
import type { ListenAddress } from "./config/listen-address.ts";
import { type OwnPath, routeOf } from "./route.ts";

/** Who answers. */
export type HttpRoutes = {
  readonly front: McpFront["handle"];
  /** Whether the two paths of 2024 are there. */
  readonly hasSse: boolean;
  readonly readiness: () => { readonly isReady: boolean; readonly body: unknown };
  readonly metrics: () => string;
};

export type HttpServerOptions = {
  readonly routes: HttpRoutes;
  /** Says what is wrong with a request, or nothing. Fronts have the same gate before their own paths. */
  readonly gate: (request: IncomingMessage) => string | undefined;
  readonly log: Log;
};

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  #closed: Promise<void> | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#server = createServer(
      {
        // Longer than the usual 60 s of clients and proxies: the side that asks should be the one that closes.
        keepAliveTimeout: 65_000,
        headersTimeout: 15_000,
        // Until the whole request has arrived; the answer may take as long as the call.
        requestTimeout: 30_000,
        connectionsCheckingInterval: 5_000,
        maxHeaderSize: 16 * 1024,
        noDelay: true,
      },
      (request, response) => this.#answer(request, response),
    );
    this.#server.maxHeadersCount = 100;
    this.#server.on("clientError", answerClientError);
  }

  /** Resolves with the address that was taken. Rejects with the error of the system, EADDRINUSE say. */
  async listen({ host, port }: ListenAddress): Promise<ListenAddress> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    this.#server.on("error", (cause) => this.#options.log.error("http server failed", { cause }));
    return { host, port: (this.#server.address() as AddressInfo).port };
  }

  /** Takes no more connections and closes idle ones; those with an open answer go on. */
  stopAccepting(): void {
    this.#closed ??= new Promise((resolve) => this.#server.close(() => resolve()));
  }

  /** Ends what is still open. Safe to call twice. */
  async close(): Promise<void> {
    this.stopAccepting();
    this.#server.closeAllConnections();
    await this.#closed;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    try {
      this.#dispatch(request, response);
    } catch (cause) {
      this.#options.log.error("request failed", { cause });
      if (response.headersSent) response.destroy();
      else answerJson(response, 500, { error: "internal error" });
    }
  }

  #dispatch(request: IncomingMessage, response: ServerResponse): void {
    const { routes } = this.#options;
    const route = routeOf(request.url ?? "");
    if (!("catalog" in route)) this.#answerOwn(request, response, route.to);
    else if (route.to === "mcp" || routes.hasSse) routes.front(request, response, route.catalog, route.to);
    else this.#answerOwn(request, response, "nothing");
  }

  #answerOwn(request: IncomingMessage, response: ServerResponse, to: OwnPath): void {
    const { routes, gate } = this.#options;
    request.resume();
    const wrong = gate(request);
    if (wrong !== undefined) {
      answerJson(response, 403, { error: `this ${wrong} is not allowed` });
      return;
    }
    switch (to) {
      case "healthz":
        answerText(response, 200, "text/plain; charset=utf-8", "ok");
        break;
      case "readyz": {
        const { isReady, body } = routes.readiness();
        answerJson(response, isReady ? 200 : 503, body);
        break;
      }
      case "metrics":
        answerText(response, 200, "text/plain; version=0.0.4; charset=utf-8", routes.metrics());
        break;
      case "nothing":
        answerJson(response, 404, { error: "not found" });
        break;
    }
  }
}

function answerJson(response: ServerResponse, status: number, body: unknown): void {
  answerText(response, status, "application/json", JSON.stringify(body));
}

function answerText(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, {
    "content-type": type,
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
  });
  response.end(text);
}

const CLIENT_ERRORS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

// The parser gave up, so there is no request to answer: what can be said is said on the bare socket.
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const status = CLIENT_ERRORS[error.code ?? ""] ?? "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
