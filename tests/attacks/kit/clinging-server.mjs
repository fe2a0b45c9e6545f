// An MCP server on stdio that is slow to go: it ends neither with its input nor when it is asked to, only when it is killed.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "clinging", version: "1" },
  }),
  "tools/list": () => ({
    tools: [{ name: "stay", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }],
  }),
  "tools/call": () => ({ content: [{ type: "text", text: `STAYED ${process.pid}` }] }),
};

process.on("SIGTERM", () => undefined);
setInterval(() => undefined, 60_000);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const handler = methods[method];
  send(handler ? { id, result: handler() } : { id, error: { code: -32601, message: "no" } });
});
