/**
 * The MCP server of the first run: four tools over standard input and output, in plain Node. It shows a call, a
 * call with progress and a call that must be approved, and needs nothing but the gateway's own program.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { linesOf } from "../../contract/index.ts";
import { DEMO_TOOLS, type DemoArguments } from "./demo-tools.ts";

type Message = { id?: string | number; method?: string; params?: Record<string, unknown> };
type Send = (message: Record<string, unknown>) => void;

/** Serves until its input ends. */
export async function serveDemo(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Promise<void> {
  const send: Send = (message) => output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  for await (const line of linesOf(input)) {
    if (line.trim() !== "") void answer(JSON.parse(line) as Message, send);
  }
}

async function answer({ id, method, params = {} }: Message, send: Send): Promise<void> {
  if (id === undefined || method === undefined) return;
  switch (method) {
    case "initialize":
      return send({
        id,
        result: {
          protocolVersion: params.protocolVersion ?? "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "isthmus-demo", version: "1.0.0" },
        },
      });
    case "ping":
      return send({ id, result: {} });
    case "tools/list":
      return send({ id, result: { tools: DEMO_TOOLS.map(({ run: _run, ...definition }) => definition) } });
    case "tools/call":
      return callTool(id, params, send);
    default:
      return send({ id, error: { code: -32601, message: `no such method: ${method}` } });
  }
}

async function callTool(id: string | number, params: Record<string, unknown>, send: Send): Promise<void> {
  const tool = DEMO_TOOLS.find(({ name }) => name === params.name);
  if (!tool) return send({ id, error: { code: -32602, message: `no such tool: ${String(params.name)}` } });
  const { progressToken } = (params._meta ?? {}) as { progressToken?: unknown };
  const report = async (progress: number, total: number) => {
    if (progressToken !== undefined) {
      send({ method: "notifications/progress", params: { progressToken, progress, total } });
    }
    await sleep(20);
  };
  send({ id, result: await tool.run((params.arguments ?? {}) as DemoArguments, report) });
}
