/** What the tests of this folder share: clients of both eras by hand, and a server of 2025 that asks. */
import { type Exchange, HttpFixture } from "../../../src/providers/mcp/fixtures/http-server.ts";
import { type ModernOptions, modern } from "../../kit/modern-client.ts";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import type { RpcMessage } from "../kit/rpc.ts";

/** A gateway before one server, whose names stay as they are. */
export function gatewayTo(url: string, more = 'prefix = ""'): Promise<RunningGateway> {
  return startGateway({ config: `[[servers]]\nid = "behind"\nurl = "${url}"\n${more}\n` });
}

export type ModernAnswer = { readonly status: number; readonly text: string; readonly messages: readonly RpcMessage[] };

/** One request of 2026-07-28, and all that comes back. */
export async function sendModern(
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  options: ModernOptions = {},
): Promise<ModernAnswer> {
  const { body, headers } = modern(method, params, options);
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: String(body),
    signal: options.signal ?? AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const data = text.split("\n").filter((line) => line.startsWith("data: "));
  const messages = (isStream ? data.map((line) => line.slice(6)) : [text].filter(Boolean)).map((json) =>
    JSON.parse(json),
  );
  return { status: response.status, text, messages };
}

/** What a request was answered with. */
export function resultOf({ messages }: { readonly messages: readonly RpcMessage[] }): Record<string, unknown> {
  const result = messages.at(-1)?.result;
  if (!result) throw new Error(`no result: ${JSON.stringify(messages)}`);
  return result;
}

/** A server of the 2025 era with sessions, whose tools ask on the stream of their call. */
export class AskingServer extends HttpFixture {
  readonly #waiting = new Map<unknown, (message: Exchange["message"]) => void>();

  constructor(tools: Record<string, (exchange: Exchange, server: AskingServer) => void>, more: object = {}) {
    super({
      "server/discover": (exchange) => exchange.raw("", 404, {}),
      GET: (exchange) => void this.listeners.push(exchange.stream()),
      "tools/list": (exchange) =>
        exchange.result({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } })) }),
      "tools/call": (exchange) => tools[exchange.tool]?.(exchange, this),
      answer: (exchange) => {
        exchange.raw("", 202, {});
        this.#waiting.get(exchange.message.id)?.(exchange.message);
      },
      ...more,
    });
    this.sessionId = "the-session";
  }

  /** Asks the client of this call, and resolves with its answer. */
  ask(exchange: Exchange, id: number | string, method: string, params: object = {}): Promise<unknown> {
    const answered = new Promise((resolve) => {
      this.#waiting.set(id, ({ result, error }) => resolve(result ?? error));
    });
    exchange.event({ jsonrpc: "2.0", id, method, params });
    return answered;
  }

  /** The last event of a call's stream; `json` is the result as it goes out. */
  finish(exchange: Exchange, json: string): void {
    exchange.event(`{"jsonrpc":"2.0","id":${JSON.stringify(exchange.message.id)},"result":${json}}`);
    exchange.end();
  }

  static async start(...given: ConstructorParameters<typeof AskingServer>): Promise<AskingServer> {
    const server = new AskingServer(...given);
    await server.listen();
    return server;
  }
}

export async function until(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error("it never became true");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
