/**
 * Listens, and knows which part answers which path. What happens on a connection is the business of `http/`, what a
 * message means that of the fronts.
 */
import type { AddressInfo } from "node:net";
import {
  type HttpRequest,
  type HttpResponse,
  headerLine,
  type Log,
  type Meter,
  type Timers,
  textOf,
} from "../contract/index.ts";
import type { McpFront } from "../fronts/mcp/index.ts";
import type { ListenAddress } from "./config/listen-address.ts";
import { HttpListener } from "./http/index.ts";
import { type OwnRoute, routeOf } from "./route.ts";

/** Who answers. */
export type HttpRoutes = {
  readonly front: McpFront["handle"];
  /** Whether the two paths of 2024 are there. */
  readonly hasSse: boolean;
  readonly readiness: () => { readonly isReady: boolean; readonly body: unknown };
  readonly metrics: () => string;
  /** How the last calls went, newest first. */
  readonly calls: () => readonly unknown[];
  /** How one of them went; undefined when it is not kept. */
  readonly call: (id: string) => unknown;
};

export type HttpServerOptions = {
  readonly routes: HttpRoutes;
  /** Says what is wrong with a request, or nothing. Fronts have the same gate before their own paths. */
  readonly gate: (request: HttpRequest) => string | undefined;
  readonly clientAddress: (peer: string, headers: HttpRequest["headers"]) => string;
  /** Asked before anything is written; unset: always. */
  readonly mayWrite?: () => boolean;
  readonly timers: Timers;
  readonly meter: Meter;
  readonly log: Log;
};

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #listener: HttpListener;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#listener = new HttpListener({
      timers: options.timers,
      ...(options.mayWrite && { mayWrite: options.mayWrite }),
      onRequest: (request, response) => this.take(request, response),
      clientAddress: options.clientAddress,
      onRefused: (status, peer) => {
        options.meter.count("isthmus_refused_total", `http ${status}`);
        options.log.debug("request refused", { status, reason: "http", peer });
      },
      onError: (cause) => options.log.error("request failed", { cause }),
    });
  }

  /** Resolves with the address that was taken. Rejects with the error of the system, EADDRINUSE say. */
  async listen({ host, port }: ListenAddress): Promise<ListenAddress> {
    const { server } = this.#listener;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port }, () => {
        server.off("error", reject);
        resolve();
      });
    });
    server.on("error", (cause) => this.#options.log.error("http server failed", { cause }));
    return { host, port: (server.address() as AddressInfo).port };
  }

  /** Sends clients elsewhere: no connection is used again after its next answer. New ones are still taken. */
  leave(): void {
    this.#listener.leave();
  }

  /** Takes no more connections; those that are there may be used once more. */
  stopAccepting(): void {
    this.#listener.stopAccepting();
  }

  /** Closes connections that wait for nothing, and from now on each as soon as it does. */
  closeIdle(): void {
    this.#listener.closeIdle();
  }

  /** Ends what is still open. Safe to call twice. */
  close(): Promise<void> {
    return this.#listener.close();
  }

  /** Breaks off every connection; new ones are taken. */
  cutAll(): void {
    this.#listener.cutAll();
  }

  /** Answers a request, wherever it came from. */
  take(request: HttpRequest, response: HttpResponse): void {
    const { routes } = this.#options;
    const route = routeOf(request.url);
    if (!("catalog" in route)) this.#answerOwn(request, response, route);
    else if (route.to === "mcp" || routes.hasSse) routes.front(request, response, route.catalog, route.to);
    else this.#answerOwn(request, response, { to: "nothing" });
  }

  #answerOwn(request: HttpRequest, response: HttpResponse, { to, callId }: OwnRoute): void {
    const { routes, gate } = this.#options;
    request.discard();
    const wrong = gate(request);
    if (wrong !== undefined) {
      this.#options.log.debug("request refused", { status: 403, reason: wrong, address: request.clientAddress });
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
      case "calls": {
        const found = callId === undefined ? { calls: routes.calls() } : routes.call(callId);
        answerJson(response, found === undefined ? 404 : 200, found ?? { error: "no such call among the last ones" });
        break;
      }
      case "nothing":
        answerJson(response, 404, { error: "not found" });
        break;
    }
  }
}

function answerJson(response: HttpResponse, status: number, body: unknown): void {
  answerText(response, status, "application/json", JSON.stringify(body));
}

function answerText(response: HttpResponse, status: number, type: string, text: string): void {
  response.answer(status, `${headerLine("Content-Type", type)}Cache-Control: no-store\r\n`, textOf(text));
}
