// A server on stdio that reads as most do: line by line, one after the other. Its tools say who it is, sleep, or work
// without reading anything meanwhile.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const answer = (id, text) => send({ id, result: { content: [{ type: "text", text }] } });
const tool = (name) => ({ name, inputSchema: { type: "object" } });

const tools = {
  who: (id) => answer(id, `process ${process.pid}`),
  sleep: (id, { ms }) => setTimeout(() => answer(id, "slept"), ms),
  work(id, { ms }) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    answer(id, "worked");
  },
};

const methods = {
  initialize: () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "pipe", version: "1" },
  }),
  "tools/list": () => ({ tools: Object.keys(tools).map(tool) }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "tools/call") tools[params.name](id, params.arguments);
  else send({ id, result: methods[method]?.(params) ?? {} });
});
process.stdin.on("end", () => process.exit(0));
