// An MCP server on stdio whose tools open and close a valve. Every line that asks it to do something is written down as it
// came, so that a test knows what was really sent.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , journal] = process.argv;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const schema = { type: "object" };
const capability = { mutable: true, reversible: false, schema_version: "2.1.0" };
const tools = [
  { name: "open", inputSchema: schema, annotations: { destructiveHint: true } },
  { name: "close", inputSchema: schema, _meta: { "x-mcpax-capability": capability } },
  { name: "look", inputSchema: schema, annotations: { readOnlyHint: true } },
  { name: "mark", inputSchema: schema },
  {
    name: "ask",
    inputSchema: schema,
    annotations: { readOnlyHint: true },
    security: { confirmation_required: true },
  },
];

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "valve", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: `did ${name}` }] }),
  "valve/force": () => ({ forced: true }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "tools/call" || method === "valve/force") appendFileSync(journal, `${line}\n`);
  if (id === undefined) return;
  const handler = methods[method];
  if (handler) send({ id, result: handler(params ?? {}) });
  else send({ id, error: { code: -32601, message: "no such method" } });
});
