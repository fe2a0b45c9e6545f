/**
 * An MCP server whose every execution is on record: a line for each in a file that is only ever appended to, written before
 * the answer. What it counts it counts for each session, so that a session which was lost or mixed up shows.
 */
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

type Params = { readonly name?: string; readonly arguments?: { readonly mark?: string; readonly ms?: number } };
export type Message = {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Params & { readonly protocolVersion?: string };
};

/** What one session has. */
export type SessionState = { readonly id: string; count: number };

const TOOL = (name: string, annotations: object) => ({
  name,
  inputSchema: { type: "object", properties: { mark: { type: "string" }, ms: { type: "number" } } },
  annotations,
});

/** echo does nothing; add changes the session; slow changes it and takes its time; wipe cannot be taken back. */
const TOOLS = [
  TOOL("echo", { readOnlyHint: true }),
  TOOL("add", { readOnlyHint: false, idempotentHint: false }),
  TOOL("slow", { readOnlyHint: false, idempotentHint: false }),
  TOOL("wipe", { readOnlyHint: false, idempotentHint: false, destructiveHint: true }),
];

export class CountingServer {
  readonly #record: string;
  readonly #era: "2025" | "2026";

  /** `record`: the file of executions. */
  constructor(record: string, era: "2025" | "2026" = "2025") {
    this.#record = record;
    this.#era = era;
  }

  /** The answer, or undefined for what needs none. */
  async answer(message: Message, session: SessionState): Promise<object | undefined> {
    if (message.id === undefined) return undefined;
    const { id, method = "" } = message;
    const result = await this.#result(method, message, session);
    if (!result) return { jsonrpc: "2.0", id, error: { code: -32601, message: `Unknown method: ${method}` } };
    return { jsonrpc: "2.0", id, result: this.#era === "2026" ? { resultType: "complete", ...result } : result };
  }

  async #result(method: string, { params }: Message, session: SessionState): Promise<object | undefined> {
    switch (method) {
      case "initialize":
        if (this.#era === "2026") return undefined;
        return {
          protocolVersion: params?.protocolVersion ?? "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "counting", version: "1.0.0" },
        };
      case "server/discover":
        if (this.#era === "2025") return undefined;
        return {
          supportedVersions: ["2026-07-28"],
          capabilities: { tools: {} },
          serverInfo: { name: "counting", version: "1.0.0" },
        };
      case "ping":
        return {};
      case "tools/list":
        return this.#era === "2026" ? { tools: TOOLS, ttlMs: 60_000, cacheScope: "public" } : { tools: TOOLS };
      case "tools/call":
        return this.#call(params, session);
      default:
        return undefined;
    }
  }

  async #call(params: Params | undefined, session: SessionState): Promise<object> {
    const { mark = "", ms = 0 } = params?.arguments ?? {};
    if (params?.name !== "echo") {
      session.count++;
      const line = { mark, session: session.id, count: session.count, at: Date.now() };
      appendFileSync(this.#record, `${JSON.stringify(line)}\n`);
    }
    if (params?.name === "slow") await sleep(ms);
    const said = { mark, session: session.id, count: session.count, pid: process.pid };
    return { content: [{ type: "text", text: JSON.stringify(said) }] };
  }
}
