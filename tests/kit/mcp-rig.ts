/** The MCP front on a loopback port over fakes, and a client for it that shows what is on the wire. */
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type CallEvent,
  type HttpRequest,
  type HttpResponse,
  jsonText,
  type Keys,
  type LostAnswer,
  type Principal,
  payload,
  type RefusedMessage,
  type Slices,
} from "../../src/contract/index.ts";
import { createMcpFront, type FrontCluster, type McpFrontConfig, type McpPorts } from "../../src/fronts/mcp/index.ts";
import { KeptTasks } from "../../src/mechanisms/runs/index.ts";
import { createSessions } from "../../src/mechanisms/sessions/index.ts";
import { createSeal } from "../../src/mechanisms/vault/index.ts";
import { HttpListener } from "../../src/server/http/index.ts";
import { createSseDecoder, type SseEvent } from "../../src/wire/sse/index.ts";
import { atOnce } from "./at-once.ts";
import { FakeCatalog, FakeView, okProvider } from "./fake-catalog.ts";
import { FakeRuns } from "./fake-runs.ts";
import { ManualTime } from "./manual-time.ts";
import { KeptLog, KeptMeter } from "./quiet.ts";

const CONFIG: McpFrontConfig = {
  sessions: "auto",
  allowedHosts: [],
  allowedOrigins: [],
  maxBody: 64 * 1024,
  inputMs: 600_000,
  serverInfo: { name: "isthmus", version: "0.0.0" },
};

const BOTH = "application/json, text/event-stream";

export type Answer = {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: <T = Record<string, never>>() => T;
};

/** A response that is read as it comes. */
export class OpenStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly events: SseEvent[] = [];
  text = "";
  isEnded = false;
  readonly #message: IncomingMessage;
  #wake: () => void = () => {};

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.status = message.statusCode ?? 0;
    this.headers = message.headers;
    const decoder = createSseDecoder({ maxEventBytes: 16 * 1024 * 1024, onEvent: (event) => this.events.push(event) });
    message.on("data", (chunk: Buffer) => {
      this.text += chunk.toString("latin1");
      decoder.push(chunk.toString("latin1"));
      this.#wake();
    });
    message.on("close", () => {
      this.isEnded = true;
      this.#wake();
    });
    message.on("error", () => {});
  }

  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue() && !this.isEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (!isTrue()) throw new Error(`the stream ended too early: ${this.text}`);
  }

  /** The n-th message, as a value. */
  async message(index: number): Promise<Record<string, never>> {
    const messages = () => this.events.filter((event) => event.data !== "");
    await this.until(() => messages().length > index);
    return JSON.parse(messages()[index]?.data ?? "") as Record<string, never>;
  }

  async ended(): Promise<void> {
    while (!this.isEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  pause(): void {
    this.#message.pause();
  }

  resume(): void {
    this.#message.resume();
  }

  close(): void {
    this.#message.destroy();
  }
}

export type SendOptions = {
  method?: string;
  path?: string;
  body?: string | Buffer;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

export async function mcpRig(
  options: {
    config?: Partial<McpFrontConfig>;
    view?: FakeView;
    idleMs?: number;
    keys?: Keys;
    time?: ManualTime;
    cluster?: FrontCluster;
    outbox?: { maxItems: number; maxBytes: number };
    mgp?: McpPorts["mgp"];
    slices?: Slices;
    /** Who sends what; unset: the local user. */
    principal?: (request: HttpRequest) => Principal;
  } = {},
) {
  const time = options.time ?? new ManualTime();
  const meter = new KeptMeter();
  const log = new KeptLog();
  const runs = new FakeRuns();
  const tool = { kind: "tool", name: "files.echo", own: "echo" } as const;
  const catalog = new FakeCatalog(options.view ?? new FakeView(1, [okProvider("files")], [tool]));
  const [clock, timers] = [time, time];
  const { idleMs, cluster, outbox } = options;
  const sessions = createSessions({
    clock,
    timers,
    log,
    meter,
    ...(idleMs && { idleMs }),
    ...(outbox && { outbox }),
    ...(cluster && { shared: cluster }),
  });
  const config = { ...CONFIG, ...options.config };
  const keys = options.keys ?? createSeal();
  const tasks = new KeptTasks({ clock, timers, meter });
  const lost: LostAnswer[] = [];
  const refused: RefusedMessage[] = [];
  const front = createMcpFront({
    onLost: (one) => lost.push(one),
    catalog,
    runs,
    sessions,
    tasks,
    clock,
    timers,
    log,
    meter,
    slices: options.slices ?? atOnce,
    keys,
    config,
    ...(cluster && { cluster }),
    ...(options.mgp && { mgp: options.mgp }),
    refused: (one) => refused.push(one),
  });
  function onRequest(incoming: HttpRequest, response: HttpResponse): void {
    if (options.principal) incoming.principal = options.principal(incoming);
    const path = incoming.url.split("?")[0] ?? "";
    const kind = path.endsWith("/sse") ? "sse" : path.endsWith("/messages") ? "messages" : "mcp";
    front.handle(incoming, response, path.split("/").length > 2 ? (path.split("/")[1] ?? "") : "", kind);
  }
  // Time of its own, which stands still: what a slow client gets is tested where it is decided.
  const listener = new HttpListener({
    timers: new ManualTime(),
    onRequest,
    onError: (cause) => log.error("request failed", { cause }),
  });
  await new Promise<void>((resolve) => listener.server.listen(0, "127.0.0.1", resolve));
  const { port } = listener.server.address() as AddressInfo;

  function open(send: SendOptions): Promise<OpenStream> {
    return new Promise((resolve, reject) => {
      const { method = "POST", path = "/mcp", body, headers = {}, signal } = send;
      const base =
        method === "POST" ? { "content-type": "application/json", accept: BOTH } : { accept: "text/event-stream" };
      const outgoing = request({
        port,
        host: "127.0.0.1",
        method,
        path,
        headers: { ...base, ...headers },
        agent: false,
        ...(signal && { signal }),
      });
      outgoing.on("response", (message) => resolve(new OpenStream(message)));
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }

  async function send(sent: SendOptions): Promise<Answer> {
    const stream = await open(sent);
    await stream.ended();
    const { status, headers, text } = stream;
    return { status, headers, text, json: <T>() => JSON.parse(text) as T };
  }

  async function initialize(version = "2025-11-25", capabilities: object = {}): Promise<Record<string, string>> {
    const params = { protocolVersion: version, capabilities, clientInfo: { name: "test", version: "1" } };
    const answer = await send({ body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }) });
    return { "mcp-session-id": String(answer.headers["mcp-session-id"]), "mcp-protocol-version": version };
  }

  return {
    time,
    meter,
    log,
    runs,
    catalog,
    sessions,
    tasks,
    front,
    lost,
    refused,
    port,
    connections: () => listener.connections,
    open,
    send,
    initialize,
    async [Symbol.asyncDispose]() {
      tasks.close();
      sessions.close();
      front.close();
      await listener.close();
    },
  };
}

export function call(id: unknown, args: object = {}, more: object = {}): string {
  const params = { name: "files.echo", arguments: args, ...more };
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
}

export function endWith(value: unknown): CallEvent {
  return { type: "end", outcome: "result", payload: payload(jsonText(value)) };
}

/** Lets what is already on its way through sockets arrive: waits for a condition, not for time. */
export async function until(isTrue: () => boolean): Promise<void> {
  for (let round = 0; round < 2000 && !isTrue(); round++) await new Promise((resolve) => setImmediate(resolve));
  if (!isTrue()) throw new Error("it never became true");
}
