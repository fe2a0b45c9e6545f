// An MCP server on stdio with one tool that cannot be taken back. It says where it was done: its arguments, and its PLACE.
import { createInterface } from "node:readline";

const [, , ...args] = process.argv;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "placed", version: "1" },
  }),
  "tools/list": () => ({
    tools: [{ name: "deploy", inputSchema: { type: "object" }, annotations: { destructiveHint: true } }],
  }),
  "tools/call": () => ({ content: [{ type: "text", text: `DONE at ${args.join(" ")} in ${process.env.PLACE}` }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const handler = methods[method];
  send(handler ? { id, result: handler(params ?? {}) } : { id, error: { code: -32601, message: "no" } });
});
