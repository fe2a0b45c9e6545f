/** JSON-RPC by hand, so that tests see exactly what is on the wire. */
import { createInterface } from "node:readline";
import type { Program } from "./program.ts";

export type RpcMessage = {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string; data?: unknown };
};

export type RpcResponse = {
  readonly status: number;
  readonly headers: Headers;
  readonly messages: readonly RpcMessage[];
};

/** Sends one message over HTTP and reads all that comes back, as JSON or as a stream of events. */
export async function post(url: string, message: object, headers: Record<string, string> = {}): Promise<RpcResponse> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  const messages = type.startsWith("text/event-stream") ? readEvents(text) : text === "" ? [] : [JSON.parse(text)];
  return { status: response.status, headers: response.headers, messages };
}

function readEvents(text: string): RpcMessage[] {
  const data = text.split("\n\n").map((event) => event.split("\n").filter((line) => line.startsWith("data:")));
  return data
    .map((lines) => lines.map((line) => line.slice(5).trimStart()).join("\n"))
    .filter(Boolean)
    .map((json) => JSON.parse(json));
}

/** Opens a session and returns the headers that belong to it. */
export async function openSession(
  url: string,
  capabilities: object = {},
  more: Record<string, string> = {},
): Promise<Record<string, string>> {
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "e2e", version: "1" } };
  const { headers } = await post(url, { id: 0, method: "initialize", params }, more);
  const session = { "mcp-session-id": headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
  await post(url, { method: "notifications/initialized" }, { ...session, ...more });
  return session;
}

export const toolCall = (id: number, name: string, args: object, meta?: object) => ({
  id,
  method: "tools/call",
  params: { name, arguments: args, ...(meta && { _meta: meta }) },
});

/** A client on the program's standard input and output. Notifications are collected in `heard`. */
export class StdioClient {
  readonly heard: RpcMessage[] = [];
  readonly #program: Program;
  readonly #waiting = new Map<string | number, (message: RpcMessage) => void>();

  constructor(program: Program) {
    this.#program = program;
    createInterface({ input: program.child.stdout }).on("line", (line) => {
      const message = JSON.parse(line) as RpcMessage;
      const take = message.id == null ? undefined : this.#waiting.get(message.id);
      if (take) take(message);
      else this.heard.push(message);
    });
  }

  send(message: object): void {
    this.#program.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** Rejects when the program ends first. */
  ask(message: { id: string | number; method: string; params?: object }): Promise<RpcMessage> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(message.id, resolve);
      this.send(message);
      void this.#program.exited.then((code) => reject(new Error(`ended with ${code}:\n${this.#program.stderr}`)));
    });
  }

  async open(): Promise<RpcMessage> {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "e2e", version: "1" } };
    const answer = await this.ask({ id: "open", method: "initialize", params });
    this.send({ method: "notifications/initialized" });
    return answer;
  }
}
