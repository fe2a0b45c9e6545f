// A server on stdio with very many tools, which says all the time that its list has changed. Arguments: JSON of
// { tools, pageSize, isChanging }. Its one useful tool says how often it spoke, and how often it was listed.
import { createInterface } from "node:readline";

const { tools = 100_000, pageSize = tools, isChanging = false } = JSON.parse(process.argv[2] ?? "{}");
const EVERY_MS = 50;
let said = 0;
let listed = 0;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tool = (index) => ({
  name: `tool_${index}`,
  description: index === 1 && isChanging ? `Version ${said}.` : `Does what ${index} does.`,
  inputSchema: { type: "object" },
});
const COUNTS = { name: "counts", inputSchema: { type: "object" } };

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "noisy", version: "1" },
  }),
  "tools/list"({ cursor = "0" } = {}) {
    const from = Number(cursor);
    if (from === 0) listed++;
    const to = Math.min(from + pageSize, tools);
    const page = Array.from({ length: to - from }, (_, place) => (from + place === 0 ? COUNTS : tool(from + place)));
    return { tools: page, ...(to < tools && { nextCursor: String(to) }) };
  },
  "tools/call": () => ({ content: [{ type: "text", text: JSON.stringify({ said, listed }) }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (methods[method]) send({ id, result: methods[method](params) });
  else send({ id, error: { code: -32601, message: "unknown" } });
});
setInterval(() => {
  said++;
  send({ method: "notifications/tools/list_changed" });
}, EVERY_MS);
process.stdin.on("end", () => process.exit(0));
