import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { RpcMessage } from "../kit/rpc.ts";

export type Exchange = {
  readonly method: string;
  readonly session: string | undefined;
  readonly message: RpcMessage;
  readonly response: ServerResponse;
};

/** Serves `/mcp` on a free loopback port. */
export async function serveFixture(handle: (exchange: Exchange) => void) {
  const server = createServer((request, response) => {
    void read(request).then(
      (message) => handle({ method: request.method ?? "", session: sessionOf(request), message, response }),
      // The gateway went away in the middle of a request.
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/mcp`,
    closeIdle: () => server.closeIdleConnections(),
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function read(request: IncomingMessage): Promise<RpcMessage> {
  const body = await text(request);
  return body === "" ? {} : JSON.parse(body);
}

function sessionOf({ headers }: IncomingMessage): string | undefined {
  const id = headers["mcp-session-id"];
  return typeof id === "string" ? id : undefined;
}

export function answerJson(response: ServerResponse, status: number, message: object, headers = {}): void {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

export function openStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
}

export function sendEvent(response: ServerResponse, message: object): void {
  response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
}
