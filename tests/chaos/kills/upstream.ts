/**
 * The server behind the gateways: it outlives them all and remembers every execution. It counts for each of its sessions,
 * has a resource that changes when told to, and (with `hasTasks`) runs tasks of its own.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { RpcMessage } from "../../e2e/kit/rpc.ts";

export const RESOURCE = "kept://one";
const SESSION = "mcp-session-id";

type Session = { readonly id: string; count: number; listener: ServerResponse | undefined };
type Arguments = { readonly mark?: string; readonly ms?: number };

export class Upstream {
  /** The marks of the calls that were executed, in order. */
  readonly executions: string[] = [];
  readonly #hasTasks: boolean;
  readonly #sessions = new Map<string, Session>();
  readonly #tasks = new Map<string, object>();
  readonly #server = createServer((request, response) => void this.#take(request, response));

  private constructor(hasTasks: boolean) {
    this.#hasTasks = hasTasks;
    this.#server.keepAliveTimeout = 60_000;
  }

  static async start({ hasTasks }: { readonly hasTasks: boolean }): Promise<Upstream> {
    const upstream = new Upstream(hasTasks);
    await new Promise<void>((resolve) => upstream.#server.listen(0, "127.0.0.1", resolve));
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  timesOf(mark: string): number {
    return this.executions.filter((one) => one === mark).length;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => undefined);
    const known = this.#sessions.get(String(request.headers[SESSION]));
    if (request.method === "GET" && known) return this.#listen(known, response);
    if (request.method === "DELETE" && known) this.#sessions.delete(known.id);
    if (request.method !== "POST") return void response.writeHead(known ? 200 : 404).end();
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const message = JSON.parse(Buffer.concat(parts).toString()) as RpcMessage;
    const session = message.method === "initialize" ? this.#open() : known;
    if (!session && message.method !== "server/discover") return void response.writeHead(404).end();
    if (message.id === undefined || message.method === undefined) return void response.writeHead(202).end();
    const answer = session && (await this.#answer(message, session, response));
    const told = answer ? { result: answer } : { error: { code: -32601, message: "unknown method" } };
    const text = JSON.stringify({ jsonrpc: "2.0", id: message.id, ...told });
    if (response.headersSent) return void response.end(`data: ${text}\n\n`);
    response.writeHead(200, { "content-type": "application/json", ...(session && { [SESSION]: session.id }) });
    response.end(text);
  }

  #open(): Session {
    const session: Session = { id: randomUUID(), count: 0, listener: undefined };
    this.#sessions.set(session.id, session);
    return session;
  }

  #listen(session: Session, response: ServerResponse): void {
    session.listener = response;
    response.on("close", () => {
      if (session.listener === response) session.listener = undefined;
    });
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  }

  async #answer(message: RpcMessage, session: Session, response: ServerResponse): Promise<object | undefined> {
    switch (message.method) {
      case "initialize":
        return {
          protocolVersion: "2025-11-25",
          capabilities: {
            ...{ tools: {}, logging: {}, resources: { subscribe: true } },
            ...(this.#hasTasks && { tasks: { requests: { tools: { call: {} } } } }),
          },
          serverInfo: { name: "kept", version: "1" },
        };
      case "tools/list":
        return { tools: this.#tools() };
      case "resources/list":
        return { resources: [{ uri: RESOURCE, name: "one" }] };
      case "resources/templates/list":
        return { resourceTemplates: [] };
      case "ping":
      case "resources/subscribe":
      case "resources/unsubscribe":
      case "logging/setLevel":
        return {};
      case "tasks/get":
      case "tasks/result":
        return this.#tasks.get(`${message.method} ${message.params?.taskId}`);
      case "tools/call":
        return await this.#call(message, session, response);
      default:
        return undefined;
    }
  }

  #tools(): object[] {
    const own = { inputSchema: { type: "object" }, ...(this.#hasTasks && { execution: { taskSupport: "optional" } }) };
    const acts = { annotations: { readOnlyHint: false, idempotentHint: false } };
    return ["add", "slow", "steps", "change"].map((name) => ({ name, ...own, ...acts }));
  }

  async #call({ params }: RpcMessage, session: Session, response: ServerResponse): Promise<object> {
    const { mark = "", ms = 0 } = (params?.arguments ?? {}) as Arguments;
    this.executions.push(mark);
    session.count += 1;
    const said = { mark, session: session.id, count: session.count };
    const result = { content: [{ type: "text", text: JSON.stringify(said) }] };
    if (params?.task !== undefined && this.#hasTasks) return { task: this.#keepTask(result) };
    if (params?.name === "slow") await sleep(ms);
    if (params?.name === "change") this.#change(session);
    if (params?.name === "steps") await this.#steps(params, response);
    return result;
  }

  #keepTask(result: object): object {
    const taskId = randomUUID();
    const time = new Date().toISOString();
    const task = { taskId, status: "completed", createdAt: time, lastUpdatedAt: time, ttl: 60_000, pollInterval: 50 };
    this.#tasks.set(`tasks/get ${taskId}`, task);
    this.#tasks.set(`tasks/result ${taskId}`, result);
    return { ...task, status: "working" };
  }

  /** Says so to whoever listens in this session: two words of the log, then the news of the resource. */
  #change({ listener }: Session): void {
    const say = (method: string, params: object) =>
      listener?.write(`data: ${JSON.stringify({ jsonrpc: "2.0", method, params })}\n\n`);
    say("notifications/message", { level: "info", data: "low" });
    say("notifications/message", { level: "error", data: "high" });
    say("notifications/resources/updated", { uri: RESOURCE });
  }

  async #steps(params: Record<string, unknown>, response: ServerResponse): Promise<void> {
    const progressToken = (params._meta as { progressToken?: unknown } | undefined)?.progressToken;
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const progress of [1, 2, 3]) {
      const news = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress } };
      response.write(`data: ${JSON.stringify(news)}\n\n`);
      await sleep(60);
    }
  }
}
