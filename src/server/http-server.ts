/**
 * Listens, and knows which part answers which path. What happens on a connection is the business of `http/`, what a
 * message means that of the fronts.
 */
import type { AddressInfo } from "node:net";
import {
  ANONYMOUS,
  type ByteBudget,
  type ErrorCode,
  GatewayError,
  type HttpRequest,
  type HttpResponse,
  hasRole,
  headerLine,
  type Log,
  type Meter,
  type NoteRefusal,
  type OriginFault,
  type Principal,
  type Timers,
  tenantOf,
  textOf,
} from "../contract/index.ts";
import type { AdminFront } from "../fronts/admin/index.ts";
import type { ApprovalsFront } from "../fronts/approvals/index.ts";
import type { ConsentFront } from "../fronts/consent/index.ts";
import type { McpFront } from "../fronts/mcp/index.ts";
import type { ListenAddress } from "./config/listen-address.ts";
import type { Cors } from "./cors.ts";
import { ExpiringStreams } from "./expiring-streams.ts";
import type { Authenticator } from "./governance/index.ts";
import type { Home } from "./home.ts";
import { type EdgeLimiter, HttpListener, listenOn, type TlsTerms } from "./http/index.ts";
import { answerNoRoom, callerOf, heldBy } from "./no-room.ts";
import { answerOriginFault, answerOwnProblem, FAILED, isAdmin, TOO_MANY } from "./own-problem.ts";
import { type OwnRoute, routeOf } from "./route.ts";

/** Who answers. */
export type HttpRoutes = {
  readonly front: McpFront["handle"];
  /** `POST /mcpax/confirm`. */
  readonly confirm: McpFront["confirm"];
  /** Whether the two paths of 2024 are there. */
  readonly hasSse: boolean;
  readonly readiness: () => { readonly isReady: boolean; readonly body: { readonly status: string } };
  readonly metrics: () => Promise<string>;
  /** What stands at `/`. */
  readonly home: Home;
  /** Everything under `/oauth`: browsers, which are known by what they were given. */
  readonly consent: ConsentFront;
  /** Everything under `/approvals`: people who have the link to a call that waits. */
  readonly approvals: ApprovalsFront;
  /** Everything under `/api`; loaded when somebody first asks for any of it. */
  readonly admin: () => Promise<AdminFront>;
};

export type HttpServerOptions = {
  readonly routes: HttpRoutes;
  /** Says what is wrong with a request, or nothing. Fronts have the same gate before their own paths. */
  readonly gate: (request: HttpRequest) => OriginFault | undefined;
  /** Unset: pages of other origins are shown nothing. */
  readonly cors?: Cors;
  /** Unset: everybody is the local user. */
  readonly authenticator?: Authenticator;
  /** Whoever runs the gateway, where those on its machine need not show anything. */
  readonly operator?: { of(request: HttpRequest): Principal | undefined };
  /** Unset: plain HTTP. */
  readonly tls?: TlsTerms | undefined;
  /** Unset: nobody is turned away for sending much. */
  readonly edge?: Pick<EdgeLimiter, "refuse">;
  /** Hears of what was turned away before it became a call. */
  readonly refused?: NoteRefusal;
  readonly clientAddress: (peer: string, headers: HttpRequest["headers"]) => string;
  /** Of the messages that the process holds. */
  readonly budget?: ByteBudget;
  /** At how many ports of the process others may connect; unset: at this one. */
  readonly ports?: number;
  /** Asked before anything is written; unset: always. */
  readonly mayWrite?: () => boolean;
  readonly timers: Timers;
  readonly meter: Meter;
  readonly log: Log;
};

/** What says nothing about anybody. */
const OPEN_TO_ALL: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);

/** Metadata says how to become known, and so does what stands in the place of an authorization server: nobody who asks is. */
function isOpenToAll(url: string): boolean {
  if (OPEN_TO_ALL.has(url) || url.startsWith("/oauth/")) return true;
  if (!MAY_BE_OAUTH.test(url)) return false;
  const { to } = routeOf(url);
  return to === "metadata" || to === "oauth";
}

/** Most requests are for other paths, and are not read twice. */
const MAY_BE_OAUTH = /^\/(\.well-known\/|register|authorize|token)/;

const NO_TOKENS = "This gateway asks nobody for a token.";

const STATUS_OF: Partial<Record<ErrorCode, number>> = {
  NOT_AUTHENTICATED: 401,
  NOT_ALLOWED: 403,
  LIMITED: 429,
  OVERLOADED: 503,
  STATE_UNAVAILABLE: 503,
};

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #listener: HttpListener;
  readonly #streams: ExpiringStreams;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#streams = new ExpiringStreams(options.timers, Date.now);
    this.#listener = new HttpListener({
      timers: options.timers,
      ...(options.mayWrite && { mayWrite: options.mayWrite }),
      ...(options.ports !== undefined && { ports: options.ports }),
      ...(options.tls && { tls: options.tls }),
      ...(options.cors && { linesFor: options.cors.linesFor }),
      onRequest: (request, response) => this.#admit(request, response),
      onLateBody: (request, response, handOver) => this.#askAgain(request, response, handOver),
      clientAddress: options.clientAddress,
      ...(options.budget && { budget: options.budget }),
      holderOf: heldBy,
      callerOf,
      onNoRoom: (request, response) => {
        options.meter.count("isthmus_refused_total", "memory");
        answerNoRoom(request, response);
      },
      onRefused: (status, peer) => {
        options.meter.count("isthmus_refused_total", `http ${status}`);
        options.log.debug("request refused", { status, reason: "http", peer });
        options.refused?.({ reason: `http ${status}`, address: peer });
      },
      onFull: (connections) =>
        options.log.warn("too many connections: those that nobody needs are closed, then those of whoever has most", {
          connections,
        }),
      onUnread: (peer) => {
        options.meter.count("isthmus_refused_total", "unread");
        options.log.info("client cut off that does not read", { peer });
      },
      onError: (cause) => options.log.error("request failed", { cause }),
    });
  }

  /** Resolves with the address that was taken. Rejects with the error of the system, EADDRINUSE say. */
  async listen({ host, port }: ListenAddress): Promise<ListenAddress> {
    const { server } = this.#listener;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.once("listening", () => {
        server.off("error", reject);
        resolve();
      });
      listenOn(server, host, port);
    });
    server.on("error", (cause) => this.#options.log.error("http server failed", { cause }));
    return { host, port: (server.address() as AddressInfo).port };
  }

  /** Another certificate, for connections that come from now on. */
  renew(terms: TlsTerms): void {
    this.#listener.renew(terms);
  }

  get isListening(): boolean {
    return this.#listener.isListening;
  }

  /** Sends clients elsewhere: no connection is used again after its next answer. New ones are still taken. */
  leave(): void {
    this.#listener.leave();
  }

  /** Takes all that have connected by now, which `stopAccepting` would reset. */
  takeWaiting(): Promise<void> {
    return this.#listener.takeWaiting();
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
    this.#streams.close();
    return this.#listener.close();
  }

  /** Cuts the streams of these callers, as far as they were opened with what ends. */
  drop(isMeant: (principal: Principal) => boolean): void {
    this.#streams.drop(isMeant);
  }

  /** Breaks off every connection; new ones are taken. */
  cutAll(): void {
    this.#listener.cutAll();
  }

  /** What comes from outside: nobody sees it before it is known who sends it. */
  #admit(request: HttpRequest, response: HttpResponse): void {
    const { authenticator, edge } = this.#options;
    // Whoever asks whether the process serves must not take it for dead because others ask too much.
    const retryMs = edge && !OPEN_TO_ALL.has(request.url) ? edge.refuse(request) : undefined;
    if (retryMs !== undefined) return this.#shed(retryMs, request, response);
    if (request.method === "OPTIONS" && this.#answerPreflight(request, response)) return;
    if (!authenticator) return this.#takeUnasked(request, response);
    if (isAdmin(request)) {
      return this.#withAdmin(request, response, (admin) => {
        if (admin.isOpen(request)) this.#takeFrom(ANONYMOUS, request, response);
        else this.#identify(authenticator, request, response);
      });
    }
    if (isOpen(request)) this.#takeFrom(ANONYMOUS, request, response);
    else this.#identify(authenticator, request, response);
  }

  /** A browser asks before a page may ask, and shows nothing by which anybody could be known. */
  #answerPreflight(request: HttpRequest, response: HttpResponse): boolean {
    const lines = this.#options.cors?.preflightLines(request);
    if (lines === undefined) return false;
    if (this.#refuseAtGate(request, response)) return true;
    request.discard();
    response.answer(204, lines, "");
    return true;
  }

  /** Nobody is asked who they are; only whoever decides and looks into the gateway may say so. */
  #takeUnasked(request: HttpRequest, response: HttpResponse): void {
    request.principal = this.#operatorOf(request) ?? request.principal;
    this.take(request, response);
  }

  #operatorOf(request: HttpRequest): Principal | undefined {
    return isAdmin(request) || isPage(request) ? this.#options.operator?.of(request) : undefined;
  }

  /** A body may come so slowly that whoever was known when it began is blocked, or their token over, when it ends. */
  #askAgain(request: HttpRequest, response: HttpResponse, handOver: () => void): void {
    const { authenticator } = this.#options;
    if (authenticator && request.principal !== ANONYMOUS) this.#identify(authenticator, request, response, handOver);
    else handOver();
  }

  /** `handOver`: what comes next, where they were known before. */
  #identify(authenticator: Authenticator, request: HttpRequest, response: HttpResponse, handOver?: () => void): void {
    const operator = this.#operatorOf(request);
    if (operator) return this.#goOn(operator, request, response, handOver);
    let known: Principal | Promise<Principal>;
    try {
      known = authenticator.authenticate(request);
    } catch (error) {
      return this.#turnAway(error, request, response);
    }
    if (!(known instanceof Promise)) return this.#goOn(known, request, response, handOver);
    known
      .then(
        (principal) => this.#goOn(principal, request, response, handOver),
        (error) => this.#turnAway(error, request, response),
      )
      .catch((cause) => this.#fail(cause, request, response));
  }

  #goOn(principal: Principal, request: HttpRequest, response: HttpResponse, handOver?: () => void): void {
    if (handOver === undefined) this.#takeFrom(principal, request, response);
    else if (!response.isOver) handOver();
  }

  /** Of what nobody waits for who could tell the client. */
  #fail(cause: unknown, request: HttpRequest, response: HttpResponse): void {
    this.#options.log.error("request failed", { cause });
    request.discard();
    try {
      if (response.isOver) return;
      if (isAdmin(request)) answerOwnProblem(response, FAILED);
      else answerJson(response, 500, { error: "the gateway failed; its log says why" });
    } catch {
      // The answer has begun already.
      response.cut();
    }
  }

  #shed(retryMs: number, request: HttpRequest, response: HttpResponse): void {
    request.discard();
    this.#options.meter.count("isthmus_refused_total", "edge");
    const retry = headerLine("Retry-After", String(Math.ceil(retryMs / 1_000)));
    if (isAdmin(request)) return answerOwnProblem(response, TOO_MANY, retry);
    const lines = `${retry}Content-Type: application/json\r\nCache-Control: no-store\r\n`;
    response.answer(429, lines, '{"error":"too many requests; see Retry-After"}');
  }

  #takeFrom(principal: Principal, request: HttpRequest, response: HttpResponse): void {
    request.principal = principal;
    if (request.method === "GET") this.#streams.watch(response, principal);
    if (!response.isOver) this.take(request, response);
  }

  #turnAway(cause: unknown, request: HttpRequest, response: HttpResponse): void {
    request.discard();
    request.principal = ANONYMOUS;
    if (this.#refuseAtGate(request, response)) return;
    const error = GatewayError.from(cause);
    if (error.code === "INTERNAL") this.#options.log.error("authentication failed inside the gateway", { cause });
    const status = STATUS_OF[error.code] ?? 500;
    this.#options.meter.count(
      "isthmus_refused_total",
      error.code === "NOT_AUTHENTICATED" ? "authentication" : "access",
    );
    const lines =
      status === 401 || status === 403 ? (this.#options.authenticator?.challenge(request, error) ?? "") : "";
    if (isAdmin(request)) {
      this.#withAdmin(request, response, (admin) => admin.refuse(request, response, error, lines));
      return;
    }
    const { code, message } = error;
    const body = { jsonrpc: "2.0", id: null, error: { code: -32000, message, data: { code } } };
    response.answer(
      status,
      `${lines}Content-Type: application/json\r\nCache-Control: no-store\r\n`,
      textOf(JSON.stringify(body)),
    );
  }

  /** Answers a request, wherever it came from. */
  take(request: HttpRequest, response: HttpResponse): void {
    const { routes } = this.#options;
    const route = routeOf(request.url);
    if (route.to === "confirm") this.#confirm(request, response);
    else if (route.to === "admin") this.#withAdmin(request, response, (admin) => admin.handle(request, response));
    else if (route.to === "consent") routes.consent(request, response);
    else if (route.to === "approvals") routes.approvals(request, response);
    else if (!("catalog" in route)) this.#answerOwn(request, response, route);
    else if (route.to === "mcp" || routes.hasSse) routes.front(request, response, route.catalog, route.to);
    else this.#answerOwn(request, response, { to: "nothing" });
  }

  #withAdmin(request: HttpRequest, response: HttpResponse, use: (admin: AdminFront) => void): void {
    this.#options.routes
      .admin()
      .then((admin) => {
        if (!response.isOver) use(admin);
      })
      .catch((cause) => this.#fail(cause, request, response));
  }

  #answerMetrics(request: HttpRequest, response: HttpResponse): void {
    this.#options.routes
      .metrics()
      .then((text) => {
        if (!response.isOver) answerText(response, 200, "text/plain; version=0.0.4; charset=utf-8", text);
      })
      .catch((cause) => this.#fail(cause, request, response));
  }

  #confirm(request: HttpRequest, response: HttpResponse): void {
    if (!this.#refuseAtGate(request, response)) this.#options.routes.confirm(request, response);
  }

  #refuseAtGate(request: HttpRequest, response: HttpResponse): boolean {
    const wrong = this.#options.gate(request);
    if (wrong === undefined) return false;
    request.discard();
    const { clientAddress: address, url: path, principal } = request;
    this.#options.log.debug("request refused", { status: 403, reason: wrong, address });
    this.#options.refused?.({ reason: wrong, principal, address, path });
    answerOriginFault(request, response, wrong);
    return true;
  }

  /** Clients show people what stands in an error of OAuth, and of any other one that they could not read it. */
  #answerNoOAuth(response: HttpResponse): void {
    const advice = this.#options.authenticator?.tokenAdvice ?? NO_TOKENS;
    answerJson(response, 404, { error: "invalid_request", error_description: advice });
  }

  #answerOwn(request: HttpRequest, response: HttpResponse, { to, resource }: OwnRoute): void {
    const { routes, authenticator } = this.#options;
    request.discard();
    if (this.#refuseAtGate(request, response)) return;
    switch (to) {
      case "home":
        routes.home(request, response);
        break;
      case "healthz":
        answerText(response, 200, "text/plain; charset=utf-8", "ok");
        break;
      case "readyz": {
        const { isReady, body } = routes.readiness();
        // Which servers there are is for those who look after all of it.
        const isTold = hasRole(request.principal, "viewer") && tenantOf(request.principal) === undefined;
        const told = isTold ? body : { status: body.status };
        answerJson(response, isReady ? 200 : 503, told);
        break;
      }
      case "metrics":
        // They tell of all tenants.
        if (!hasRole(request.principal, "viewer") || tenantOf(request.principal) !== undefined) {
          const { principal, clientAddress: address, url: path } = request;
          this.#options.refused?.({ reason: "role", principal, address, path });
          answerJson(response, 403, { error: "this needs the role viewer, of the platform" });
          break;
        }
        this.#answerMetrics(request, response);
        break;
      case "metadata": {
        const metadata = authenticator?.metadata(request, resource ?? "");
        if (metadata) answerJson(response, 200, metadata);
        else this.#answerNoOAuth(response);
        break;
      }
      case "oauth":
        this.#answerNoOAuth(response);
        break;
      case "nothing":
        answerJson(response, 404, { error: "not found" });
        break;
    }
  }
}

function isOpen(request: HttpRequest): boolean {
  return isOpenToAll(request.url) || (isPage(request) && !showsCredential(request));
}

/** What people open in a browser, which shows nothing by itself. */
function isPage({ url }: HttpRequest): boolean {
  return url === "/" || url.startsWith("/approvals/");
}

/** Whoever shows one is known by it, or turned away; also where it stands in the address, in which our links have nothing. */
function showsCredential({ url, headers, peer }: HttpRequest): boolean {
  return headers.authorization !== undefined || peer?.certificate !== undefined || url.includes("?");
}

function answerJson(response: HttpResponse, status: number, body: unknown): void {
  answerText(response, status, "application/json", JSON.stringify(body));
}

function answerText(response: HttpResponse, status: number, type: string, text: string): void {
  response.answer(status, `${headerLine("Content-Type", type)}Cache-Control: no-store\r\n`, textOf(text));
}
