/** A recording MCP server over Streamable HTTP. Answers requests as JSON or as a stream of events, as the test says. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Offers } from "./kit/handshake.ts";
import { parsed, type Received, Recorder, type Upstream, type Way } from "./kit/recording.ts";

export type HttpUpstreamOptions = {
  readonly offers: Offers;
  /** "json": an answer before which nothing was sent is a plain JSON body. */
  readonly answers: "json" | "sse";
  /** How a text becomes an event; tests of framing bring their own. */
  readonly frame?: (text: string) => string;
  readonly onReceived?: (received: Received) => void;
};

export async function startHttpUpstream(options: HttpUpstreamOptions): Promise<Upstream> {
  const recorder = new Recorder(options.offers, options.onReceived);
  const listening = new Set<ServerResponse>();
  const frame = options.frame ?? eventText;
  let sessions = 0;

  function wayOf(response: ServerResponse, isOpening: boolean): Way {
    const begin = (type: string) => {
      const session = isOpening ? { "mcp-session-id": `recording-${++sessions}` } : {};
      response.writeHead(200, { "content-type": type, ...session });
    };
    const send = (text: string) => {
      if (!response.headersSent) begin("text/event-stream");
      response.write(frame(text), "latin1");
    };
    return {
      send,
      answer(text) {
        if (response.headersSent || (options.answers === "sse" && !isOpening)) {
          send(text);
          response.end();
          return;
        }
        begin("application/json");
        response.end(text, "latin1");
      },
    };
  }

  function handle(request: IncomingMessage, response: ServerResponse, text: string): void {
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      listening.add(response);
      response.once("close", () => listening.delete(response));
      return;
    }
    if (request.method === "DELETE") return void response.writeHead(200).end();
    const { id, method } = parsed(text);
    const isRequest = id !== undefined && method !== undefined;
    if (!isRequest) response.writeHead(202).end();
    recorder.take(text, wayOf(response, method === "initialize"));
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => handle(request, response, Buffer.concat(chunks).toString("latin1")));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    received: recorder.received,
    address: `url = "http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp"`,
    say(text) {
      [...listening].at(-1)?.write(frame(text), "latin1");
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** One event whose data is the text; its line ends start new data lines. */
function eventText(text: string): string {
  return `event: message\ndata: ${text.replace(/\r\n|\r|\n/g, "\ndata: ")}\n\n`;
}
