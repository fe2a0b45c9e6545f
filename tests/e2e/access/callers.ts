/** Clients of every revision, each with the token of somebody. */
import { modern } from "../../kit/modern-client.ts";
import { post, type RpcMessage } from "../kit/rpc.ts";

/** An answer as far as it matters whether something was reached. */
export type Answer = { readonly status: number; readonly message: RpcMessage | undefined };

const CLIENT = { capabilities: {}, clientInfo: { name: "ways", version: "1" } };
const JSON_BODY = { "content-type": "application/json", accept: "application/json, text/event-stream" };
let lastId = 0;

export class Caller {
  readonly #origin: string;
  readonly #token: string;
  readonly #sessions = new Map<string, Promise<Record<string, string>>>();
  #sse: Promise<SseLine> | undefined;

  constructor(origin: string, token: string) {
    this.#origin = origin;
    this.#token = token;
  }

  get #own(): Record<string, string> {
    return { authorization: `Bearer ${this.#token}` };
  }

  #session(path: string, protocolVersion: string): Promise<Record<string, string>> {
    const key = `${path} ${protocolVersion}`;
    const known = this.#sessions.get(key) ?? this.#open(path, protocolVersion);
    this.#sessions.set(key, known);
    return known;
  }

  async #open(path: string, protocolVersion: string): Promise<Record<string, string>> {
    const url = this.#origin + path;
    const opening = { id: 0, method: "initialize", params: { protocolVersion, ...CLIENT } };
    const { headers } = await post(url, opening, this.#own);
    const session = { ...this.#own, "mcp-session-id": headers.get("mcp-session-id") ?? "" };
    const all = protocolVersion === "2025-03-26" ? session : { ...session, "mcp-protocol-version": protocolVersion };
    await post(url, { method: "notifications/initialized" }, all);
    return all;
  }

  inSession = async (path: string, method: string, params: object, headers = {}): Promise<Answer> => {
    const session = await this.#session(path, "2025-11-25");
    return lastOf(await post(this.#origin + path, { id: ++lastId, method, params }, { ...session, ...headers }));
  };

  ephemeral = async (path: string, method: string, params: object): Promise<Answer> => {
    const headers = { ...this.#own, "mcp-protocol-version": "2025-11-25" };
    return lastOf(await post(this.#origin + path, { id: ++lastId, method, params }, headers));
  };

  inBatch = async (path: string, method: string, params: object): Promise<Answer> => {
    const session = await this.#session(path, "2025-03-26");
    const response = await fetch(this.#origin + path, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...session },
      body: JSON.stringify([{ jsonrpc: "2.0", id: ++lastId, method, params }]),
    });
    const text = await response.text();
    const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
    return { status: response.status, message: [JSON.parse(json)].flat()[0] };
  };

  modern = async (path: string, method: string, params: Record<string, unknown>): Promise<Answer> => {
    const { _meta, ...rest } = params;
    const order = modern(method, rest, { id: ++lastId, meta: (_meta ?? {}) as Record<string, unknown> });
    const headers = { ...this.#own, ...order.headers };
    return lastOf(await post(this.#origin + path, JSON.parse(String(order.body)), headers));
  };

  /** On a stream of 2026 of its own; gives what is acknowledged of the resources that it wants to hear of. */
  listen = async (path: string, uris: readonly string[]): Promise<readonly string[]> => {
    const order = modern("subscriptions/listen", { notifications: { resourceSubscriptions: uris } }, { id: ++lastId });
    const headers = { ...JSON_BODY, ...this.#own, ...(order.headers as Record<string, string>) };
    const life = new AbortController();
    const options = { method: "POST", body: String(order.body), headers, signal: life.signal };
    const response = await fetch(this.#origin + path, options);
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const data = /^data: (.*acknowledged.*)\n/m.exec(text)?.[1];
      if (data === undefined) continue;
      life.abort();
      const { params } = JSON.parse(data) as { params: { notifications: { resourceSubscriptions?: string[] } } };
      return params.notifications.resourceSubscriptions ?? [];
    }
    // Whoever may see nothing of a server is told that there is none.
    if (text.includes("There is no such catalog")) return [];
    throw new Error(text);
  };

  /** Without an id. */
  notify = async (path: string, method: string, params: object): Promise<void> => {
    await post(this.#origin + path, { method, params }, await this.#session(path, "2025-11-25"));
  };

  overSse = async (_path: string, method: string, params: object): Promise<Answer> => {
    this.#sse ??= SseLine.open(this.#origin, this.#own);
    return { status: 200, message: await (await this.#sse).ask(method, params) };
  };

  async close(): Promise<void> {
    (await this.#sse)?.close();
  }
}

function lastOf({ status, messages }: { status: number; messages: readonly RpcMessage[] }): Answer {
  return { status, message: messages.find(({ result, error }) => result !== undefined || error !== undefined) };
}

/** HTTP+SSE of 2024: a stream, and an address to post to that it names. */
class SseLine {
  readonly #life = new AbortController();
  readonly #waiting = new Map<unknown, (message: RpcMessage) => void>();
  readonly #headers: Record<string, string>;
  #url = "";

  private constructor(headers: Record<string, string>) {
    this.#headers = headers;
  }

  static async open(origin: string, headers: Record<string, string>): Promise<SseLine> {
    const line = new SseLine(headers);
    const response = await fetch(`${origin}/sse`, { headers, signal: line.#life.signal });
    const named = Promise.withResolvers<string>();
    void line.#read(response, (path) => named.resolve(path)).catch(() => undefined);
    line.#url = origin + (await named.promise);
    await line.ask("initialize", { protocolVersion: "2024-11-05", ...CLIENT });
    await line.#post({ method: "notifications/initialized" });
    return line;
  }

  async #read(response: Response, onEndpoint: (path: string) => void): Promise<void> {
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (text + chunk).split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data === undefined) continue;
        if (event.includes("event: endpoint")) onEndpoint(data);
        else this.#take(JSON.parse(data));
      }
    }
  }

  #take(message: RpcMessage): void {
    this.#waiting.get(message.id)?.(message);
  }

  async #post(message: object): Promise<void> {
    const headers = { "content-type": "application/json", ...this.#headers };
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    await (await fetch(this.#url, { method: "POST", headers, body })).arrayBuffer();
  }

  async ask(method: string, params: object): Promise<RpcMessage> {
    const id = ++lastId;
    const answer = new Promise<RpcMessage>((resolve) => this.#waiting.set(id, resolve));
    await this.#post({ id, method, params });
    return answer;
  }

  close(): void {
    this.#life.abort();
  }
}
