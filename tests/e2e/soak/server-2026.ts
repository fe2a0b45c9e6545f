/** A server of 2026-07-28: its tool answers with a question and a state, and is called again with both. Holds nothing itself. */
import type { ServerResponse } from "node:http";
import type { RpcMessage } from "../kit/rpc.ts";
import { type AskingServer, questionFor, resultFor, TOOLS, WORK_MS } from "./asking.ts";
import { answerJson, type Exchange, openStream, sendEvent, serveFixture } from "./http-fixture.ts";

const VERSION = "2026-07-28";
const CACHED = { resultType: "complete", ttlMs: 60_000, cacheScope: "public" };

export async function startServer2026(): Promise<AskingServer> {
  const streams = new Set<ServerResponse>();
  const calls = new Set<ServerResponse>();
  const server = await serveFixture(handle);

  function handle({ message, response }: Exchange): void {
    const { id, method } = message;
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "tools/call") return call(message, response);
    if (method === "subscriptions/listen") return listen(message, response);
    const answers: Record<string, object> = {
      "server/discover": { ...CACHED, supportedVersions: [VERSION], capabilities: { tools: { listChanged: true } } },
      "tools/list": { ...CACHED, tools: TOOLS },
    };
    const result = answers[method ?? ""];
    const error = { code: -32601, message: "Method not found" };
    answerJson(response, result ? 200 : 404, result ? { id, result } : { id, error });
  }

  function listen({ id, params }: RpcMessage, response: ServerResponse): void {
    track(streams, response);
    openStream(response);
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    const acknowledged = { notifications: params?.notifications, _meta };
    sendEvent(response, { method: "notifications/subscriptions/acknowledged", params: acknowledged });
  }

  function call(message: RpcMessage, response: ServerResponse): void {
    track(calls, response);
    setTimeout(() => answerJson(response, 200, { id: message.id, result: answer(message) }), WORK_MS);
  }

  return {
    url: server.url,
    counts: () => ({ streams: streams.size, calls: calls.size }),
    closeIdle: server.closeIdle,
    [Symbol.asyncDispose]: server.close,
  };
}

function track(open: Set<ServerResponse>, response: ServerResponse): void {
  open.add(response);
  response.once("close", () => open.delete(response));
}

function answer({ params }: RpcMessage): object {
  const { tag } = Object(params?.arguments);
  const state = `state of ${tag}`;
  if (params?.requestState === undefined) {
    const word = { method: "elicitation/create", params: questionFor(tag) };
    return { resultType: "input_required", inputRequests: { word }, requestState: state };
  }
  const { word } = Object(params.inputResponses);
  const told = params.requestState === state ? tag : `another's state: ${params.requestState}`;
  return { resultType: "complete", ...resultFor(told, word) };
}
