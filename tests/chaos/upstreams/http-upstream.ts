/** The counting server over HTTP, in this process, with sessions (2025) or without (2026). */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CountingServer, type Message, type SessionState } from "./counting-server.ts";

export type HttpUpstream = {
  readonly url: string;
  /** Sessions that were ever opened. */
  readonly opened: number;
  close(): Promise<void>;
};

export async function startHttpUpstream(record: string, era: "2025" | "2026"): Promise<HttpUpstream> {
  const counting = new CountingServer(record, era);
  const sessions = new Map<string, SessionState>();
  const everybody: SessionState = { id: "everybody", count: 0 };
  let opened = 0;

  function sessionOf(request: IncomingMessage, message: Message): SessionState | undefined {
    if (era === "2026") return everybody;
    if (message.method !== "initialize") return sessions.get(String(request.headers["mcp-session-id"]));
    const session = { id: randomUUID(), count: 0 };
    sessions.set(session.id, session);
    opened++;
    return session;
  }

  async function post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const message = JSON.parse(await textOf(request)) as Message;
    const session = sessionOf(request, message);
    if (!session) return void response.writeHead(404).end();
    const answer = await counting.answer(message, session);
    const headers = era === "2025" ? { "mcp-session-id": session.id } : {};
    if (!answer) response.writeHead(202, headers).end();
    else response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(answer));
  }

  const server = createServer((request, response) => {
    if (request.method === "POST") return void post(request, response).catch(() => response.destroy());
    if (request.method === "DELETE") sessions.delete(String(request.headers["mcp-session-id"]));
    response.writeHead(request.method === "DELETE" ? 200 : 405).end();
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    get opened() {
      return opened;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
