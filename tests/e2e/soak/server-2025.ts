/** A server of 2025-11-25 with sessions: its tool asks on the stream of the call and holds the call until it is answered. */
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { RpcMessage } from "../kit/rpc.ts";
import { type AskingServer, questionFor, resultFor, TOOLS, WORK_MS } from "./asking.ts";
import { answerJson, type Exchange, openStream, sendEvent, serveFixture } from "./http-fixture.ts";

type OpenCall = { readonly id: RpcMessage["id"]; readonly tag: unknown; readonly response: ServerResponse };

/** What the server holds for one client. */
type Session = { readonly streams: Set<ServerResponse>; readonly questions: Map<unknown, OpenCall> };

export async function startServer2025(): Promise<AskingServer> {
  const sessions = new Map<string, Session>();
  let lastQuestion = 0;
  const server = await serveFixture(handle);

  function handle(exchange: Exchange): void {
    const { method, message, response } = exchange;
    const session = sessions.get(exchange.session ?? "");
    if (message.method === "initialize") return initialize(message, response);
    if (!session) return answerJson(response, exchange.session === undefined ? 400 : 404, refused(message));
    if (method === "GET") return hold(session, response);
    if (method === "DELETE") return end(exchange.session, session, response);
    if (message.id === undefined || message.method === undefined) return take(session, message, response);
    if (message.method === "tools/call") return ask(session, message, response);
    const result = message.method === "tools/list" ? { tools: TOOLS } : {};
    answerJson(response, 200, { id: message.id, result });
  }

  function initialize({ id, params }: RpcMessage, response: ServerResponse): void {
    const session = randomUUID();
    sessions.set(session, { streams: new Set(), questions: new Map() });
    const serverInfo = { name: "soak-2025", version: "1" };
    const result = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo };
    answerJson(response, 200, { id, result }, { "mcp-session-id": session });
  }

  function hold({ streams }: Session, response: ServerResponse): void {
    streams.add(response);
    response.once("close", () => streams.delete(response));
    openStream(response);
  }

  function end(id: string | undefined, { streams }: Session, response: ServerResponse): void {
    sessions.delete(id ?? "");
    for (const stream of streams) stream.end();
    response.writeHead(200).end();
  }

  function ask(session: Session, { id, params }: RpcMessage, response: ServerResponse): void {
    const { tag } = Object(params?.arguments);
    const question = `question ${++lastQuestion}`;
    hold(session, response);
    session.questions.set(question, { id, tag, response });
    response.once("close", () => session.questions.delete(question));
    sendEvent(response, { id: question, method: "elicitation/create", params: questionFor(tag) });
  }

  /** An answer to a question, or a notification. */
  function take({ questions }: Session, message: RpcMessage, response: ServerResponse): void {
    response.writeHead(202).end();
    if (message.method === "notifications/cancelled") {
      const cancelled = [...questions.values()].find(({ id }) => id === message.params?.requestId);
      cancelled?.response.end();
    }
    const open = questions.get(message.id);
    if (message.method !== undefined || !open) return;
    questions.delete(message.id);
    setTimeout(() => {
      sendEvent(open.response, { id: open.id, result: resultFor(open.tag, message.result) });
      open.response.end();
    }, WORK_MS);
  }

  return {
    url: server.url,
    counts: () => ({
      sessions: sessions.size,
      streams: sum(sessions, ({ streams }) => streams.size),
      questions: sum(sessions, ({ questions }) => questions.size),
    }),
    closeIdle: server.closeIdle,
    [Symbol.asyncDispose]: server.close,
  };
}

function refused({ id = null }: RpcMessage): object {
  return { id, error: { code: -32000, message: "There is no such session" } };
}

function sum(sessions: ReadonlyMap<string, Session>, count: (session: Session) => number): number {
  return [...sessions.values()].reduce((total, session) => total + count(session), 0);
}
