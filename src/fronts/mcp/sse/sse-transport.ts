/** HTTP+SSE of 2024-11-05: the client listens on one stream and POSTs to the address it is told there. */
import { randomUUID } from "node:crypto";
import { checkUtf8, type HttpRequest, type HttpResponse, headerLine, JsonFault } from "../../../contract/index.ts";
import { Connection } from "../connection.ts";
import type { FrontContext } from "../front-context.ts";
import { createGate } from "../http/gate.ts";
import { refuseAtGate, refuseCatalog } from "../http/http-transport.ts";
import { refuse } from "../http/refuse.ts";
import { SseStream } from "../http/sse-stream.ts";

const MAX_CONNECTIONS = 10_000;

export interface SseTransport {
  handleStream(request: HttpRequest, response: HttpResponse, catalog: string): void;
  handleMessage(request: HttpRequest, response: HttpResponse, catalog: string): void;
  close(): void;
}

type Open = { readonly connection: Connection; readonly stream: SseStream; readonly catalog: string };

export function createSseTransport(front: FrontContext): SseTransport {
  const gate = createGate(front.config);
  const open = new Map<string, Open>();
  const deny = (response: HttpResponse, status: number, reason: string, message: string, lines = "") =>
    refuse(front.meter, response, { status, reason, code: -32000, message, lines });

  function handleStream(request: HttpRequest, response: HttpResponse, catalog: string): void {
    if (refuseAtGate({ front, gate }, request, response)) return;
    if (refuseCatalog(front, request, response, catalog)) return;
    if (request.method !== "GET")
      return deny(response, 405, "method", "Method not allowed; use GET", headerLine("Allow", "GET"));
    if (open.size >= MAX_CONNECTIONS) return deny(response, 503, "sessions full", "Too many open streams");
    const id = randomUUID();
    const stream: SseStream = new SseStream(response, front.timers, {
      drained: () => connection.drained(),
      left: () => {
        open.delete(id);
        connection.close();
      },
    });
    const connection = new Connection(front, { catalog, write: (text) => stream.send(text, undefined, "message") });
    open.set(id, { connection, stream, catalog });
    const path = catalog === "" ? "/messages" : `/${encodeURIComponent(catalog)}/messages`;
    stream.send(`${path}?sessionId=${id}`, undefined, "endpoint");
  }

  function handleMessage(request: HttpRequest, response: HttpResponse, catalog: string): void {
    if (refuseAtGate({ front, gate }, request, response)) return;
    if (request.method !== "POST")
      return deny(response, 405, "method", "Method not allowed; use POST", headerLine("Allow", "POST"));
    const id = new URLSearchParams(request.url.split("?")[1] ?? "").get("sessionId") ?? "";
    const found = open.get(id);
    if (found?.catalog !== catalog) {
      request.discard();
      return deny(response, 404, "session", "Session not found");
    }
    request.body(front.config.maxBody, {
      onBody: (text) => receive(found.connection, text, response),
      onTooLarge: () => deny(response, 413, "body size", "The body is too large"),
    });
  }

  function receive(connection: Connection, text: string, response: HttpResponse): void {
    try {
      checkUtf8(text);
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      return refuse(front.meter, response, { status: 400, reason: "parse", code: -32700, message: error.message });
    }
    response.answer(202, "Content-Type: text/plain\r\n", "Accepted");
    connection.receive(text);
  }

  return {
    handleStream,
    handleMessage,
    close() {
      for (const { connection, stream } of open.values()) {
        connection.close();
        stream.end();
      }
      open.clear();
    },
  };
}
