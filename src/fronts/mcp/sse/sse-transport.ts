/** HTTP+SSE of 2024-11-05: the client listens on one stream and POSTs to the address it is told there. */
import { randomUUID } from "node:crypto";
import {
  checkUtf8,
  type HttpRequest,
  type HttpResponse,
  headerLine,
  JsonFault,
  type Principal,
} from "../../../contract/index.ts";
import { Shares } from "../../../mechanisms/sessions/index.ts";
import { Connection, type ConnectionOptions } from "../connection.ts";
import type { FrontContext } from "../front-context.ts";
import { createGate } from "../http/gate.ts";
import { refuseAtGate, refuseCatalog } from "../http/http-transport.ts";
import { type Refused, refuse } from "../http/refuse.ts";
import { SseStream } from "../http/sse-stream.ts";
import { unavailable } from "../http/unavailable.ts";
import { Lines } from "./lines.ts";

const MAX_CONNECTIONS = 10_000;
const MOST_PASSED = 3;

export interface SseTransport {
  handleStream(request: HttpRequest, response: HttpResponse, catalog: string): void;
  handleMessage(request: HttpRequest, response: HttpResponse, catalog: string): void;
  /** Ends the streams of these callers, whether they have a session or not. */
  drop(isMeant: (principal: Principal) => boolean): void;
  close(): void;
}

type Open = {
  readonly connection: Connection;
  readonly catalog: string;
  /** Ends the stream, and the session with it. Safe to call twice. */
  end(): void;
};

export function createSseTransport(front: FrontContext): SseTransport {
  const gate = createGate(front.config);
  const open = new Map<string, Open>();
  /** Those that other processes cannot find yet. */
  const opening = new Map<HttpResponse, Principal>();
  const shares = new Shares(MAX_CONNECTIONS);
  const lines = front.cluster?.hop && new Lines(front, front.cluster);
  const deny = (exchange: Refused, status: number, reason: string, message: string, lines = "") =>
    refuse(front, exchange, { status, reason, code: -32000, message, lines });

  function handleStream(request: HttpRequest, response: HttpResponse, catalog: string): void {
    if (refuseAtGate({ front, gate }, request, response)) return;
    if (refuseCatalog(front, request, response, catalog)) return;
    if (request.method !== "GET")
      return deny({ request, response }, 405, "method", "Method not allowed; use GET", headerLine("Allow", "GET"));
    const { principal } = request;
    if (open.size >= MAX_CONNECTIONS || shares.isSpent(principal))
      return deny({ request, response }, 503, "sessions full", "Too many open streams");
    shares.take(principal);
    const id = randomUUID();
    const address = front.config.namesAddresses === true ? request.clientAddress : undefined;
    const begin = () => openStream(id, response, { principal, catalog, address });
    if (!lines) return begin();
    opening.set(response, principal);
    lines.keep(id, principal, catalog).then(
      () => {
        opening.delete(response);
        if (!response.isOver) return begin();
        shares.giveBack(principal);
        lines.drop(id);
      },
      (cause) => {
        opening.delete(response);
        shares.giveBack(principal);
        refuse(front, { request, response }, unavailable(cause));
      },
    );
  }

  function openStream(id: string, response: HttpResponse, line: Omit<ConnectionOptions, "write">): void {
    const { principal, catalog } = line;
    const stream: SseStream = new SseStream(response, front.timers, { drained: () => connection.drained(), left: end });
    const write = (text: string) => stream.send(text, undefined, "message");
    const connection = new Connection(front, { ...line, write, onEnded: end });
    function end(): void {
      if (!open.delete(id)) return;
      shares.giveBack(principal);
      lines?.drop(id);
      connection.close();
      stream.end();
    }
    open.set(id, { connection, catalog, end });
    const path = catalog === "" ? "/messages" : `/${encodeURIComponent(catalog)}/messages`;
    stream.send(`${path}?sessionId=${id}`, undefined, "endpoint");
  }

  function handleMessage(request: HttpRequest, response: HttpResponse, catalog: string): void {
    if (refuseAtGate({ front, gate }, request, response)) return;
    if (request.method !== "POST")
      return deny({ request, response }, 405, "method", "Method not allowed; use POST", headerLine("Allow", "POST"));
    const id = new URLSearchParams(request.url.split("?")[1] ?? "").get("sessionId") ?? "";
    const found = open.get(id);
    const isHere = found?.catalog === catalog && found.connection.principal.id === request.principal.id;
    if (!isHere && (found || !front.cluster?.hop)) {
      request.discard();
      return deny({ request, response }, 404, "session", "Session not found");
    }
    request.body(front.config.maxBody, {
      onBody(text) {
        if (isHere) return receive(found.connection, text, request, response);
        pass(id, text, request, response, catalog).catch((cause) =>
          refuse(front, { request, response }, unavailable(cause)),
        );
      },
      onTooLarge: () => deny({ request, response }, 413, "body size", "The body is too large"),
    });
  }

  /** Hands a message to the process that has its stream. When that is lost, so is the stream, and the session with it. */
  async function pass(
    id: string,
    text: string,
    request: HttpRequest,
    response: HttpResponse,
    catalog: string,
  ): Promise<void> {
    const hop = front.cluster?.hop;
    const home = await lines?.find(id, request.principal, catalog);
    const isStuck = !hop || hop.passed(request) >= MOST_PASSED;
    const end = home && !isStuck ? await hop.forward(request, text, response, home) : undefined;
    if (end?.type !== "answered" && !response.isOver) deny({ request, response }, 404, "session", "Session not found");
  }

  function receive(connection: Connection, text: string, request: HttpRequest, response: HttpResponse): void {
    try {
      checkUtf8(text);
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      return refuse(
        front,
        { request, response },
        { status: 400, reason: "parse", code: -32700, message: error.message },
      );
    }
    response.answer(202, "Content-Type: text/plain\r\n", "Accepted");
    connection.receive(text, request.principal);
  }

  return {
    handleStream,
    handleMessage,
    drop(isMeant) {
      for (const [response, principal] of opening) if (isMeant(principal)) response.cut();
      for (const { connection, end } of [...open.values()]) if (isMeant(connection.principal)) end();
    },
    close() {
      for (const { end } of [...open.values()]) end();
    },
  };
}
