/** A client of the 2025 era without a connection of its own: every request may go to another gateway. */
import { type IncomingHttpHeaders, request } from "node:http";
import { EventStream } from "../../hostile/kit/event-stream.ts";
import { type RpcMessage, toolCall } from "../kit/rpc.ts";

export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly message: RpcMessage | undefined;
};

export type ClientOptions = {
  readonly capabilities?: object;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
};

const VERSION = "2025-11-25";
const LIMIT_MS = 30_000;
let clients = 0;

export class Client {
  /** As `initialize` was answered. */
  readonly opened: Answer;
  readonly sessionId: string;
  readonly #options: ClientOptions;
  #id = 0;

  private constructor(opened: Answer, options: ClientOptions) {
    this.opened = opened;
    this.sessionId = String(opened.headers["mcp-session-id"]);
    this.#options = options;
  }

  static async open(url: string, options: ClientOptions = {}): Promise<Client> {
    const clientInfo = { name: `client-${++clients}`, version: "1.0.0" };
    const params = { protocolVersion: VERSION, capabilities: options.capabilities ?? {}, clientInfo };
    const opened = await send(url, "POST", options.headers, { id: 0, method: "initialize", params });
    if (opened.status !== 200) throw new Error(`no session: ${opened.status} ${opened.text}`);
    const client = new Client(opened, options);
    await client.post(url, { method: "notifications/initialized" });
    return client;
  }

  get headers(): Record<string, string> {
    return { ...this.#options.headers, "mcp-session-id": this.sessionId, "mcp-protocol-version": VERSION };
  }

  nextId(): number {
    return ++this.#id;
  }

  post(url: string, message: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return send(url, "POST", { ...this.headers, ...headers }, message);
  }

  request(url: string, method: string, params: object = {}): Promise<Answer> {
    return this.post(url, { id: this.nextId(), method, params });
  }

  call(url: string, tool: string, args: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.post(url, toolCall(this.nextId(), tool, args), headers);
  }

  /** The stream of a call. */
  stream(url: string, tool: string, args: object = {}): Promise<EventStream> {
    const message = toolCall(this.nextId(), tool, args, { progressToken: `p${this.#id}` });
    return EventStream.open(url, { method: "POST", headers: this.headers, message });
  }

  /** Its own stream, or the rest of another one. */
  listen(url: string, lastId?: string): Promise<EventStream> {
    const headers = { ...this.headers, ...(lastId !== undefined && { "last-event-id": lastId }) };
    return EventStream.open(url, { method: "GET", headers });
  }

  close(url: string): Promise<Answer> {
    return send(url, "DELETE", this.headers);
  }
}

/** One request on a connection of its own. The message is the last one that came: the answer. */
export function send(
  url: string,
  method: "POST" | "GET" | "DELETE",
  headers: Readonly<Record<string, string>> = {},
  message?: object,
): Promise<Answer> {
  const body = message && JSON.stringify({ jsonrpc: "2.0", ...message });
  const accept = "application/json, text/event-stream";
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      agent: false,
      headers: { accept, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    });
    sent.setTimeout(LIMIT_MS, () => sent.destroy(new Error(`no answer in ${LIMIT_MS} ms: ${body}`)));
    sent.on("error", reject);
    sent.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.on("error", reject);
      response.on("end", () => {
        const { statusCode: status = 0, headers: got } = response;
        resolve({ status, headers: got, text, message: lastMessage(text) });
      });
    });
    sent.end(body);
  });
}

function lastMessage(text: string): RpcMessage | undefined {
  if (text.startsWith("{")) return JSON.parse(text) as RpcMessage;
  const line = text.split("\n").findLast((one) => one.startsWith("data:") && one.length > 6);
  return line === undefined ? undefined : (JSON.parse(line.slice(5)) as RpcMessage);
}

export type Look = { readonly pid: number; readonly tabs: readonly string[]; readonly said?: unknown };

/** What the browser said. */
export function saidIn({ status, text, message }: Pick<Answer, "status" | "text" | "message">): Look {
  const content = message?.result?.content as { text: string }[] | undefined;
  if (!content?.[0] || message?.result?.isError) throw new Error(`no answer of the server: ${status} ${text}`);
  return JSON.parse(content[0].text) as Look;
}
