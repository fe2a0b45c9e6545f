// An MCP server on stdio that calls what it offers as it is told: tools as "name", resources as "scheme:rest".
import { createInterface } from "node:readline";

const [, , ...all] = process.argv;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const [names, uris] = [all.filter((one) => !one.includes(":")), all.filter((one) => one.includes(":"))];

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, prompts: {}, resources: {} },
    serverInfo: { name: "named", version: "1" },
  }),
  "tools/list": () => ({
    tools: names.map((name) => ({ name, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } })),
  }),
  "prompts/list": () => ({ prompts: names.map((name) => ({ name })) }),
  "resources/list": () => ({ resources: uris.map((uri) => ({ uri, name: uri })) }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: `DONE ${name} of ${all.join(" ")}` }] }),
  "prompts/get": ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `DONE ${name} of ${all.join(" ")}` } }],
  }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, text: `DONE ${uri} of ${all.join(" ")}` }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const handler = methods[method];
  send(handler ? { id, result: handler(params ?? {}) } : { id, error: { code: -32601, message: "no" } });
});
