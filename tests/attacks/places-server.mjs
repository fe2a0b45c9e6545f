// An MCP server on stdio with files that somebody may want who may not have them. Writes down every message it gets.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , seen] = process.argv;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tool = (name) => ({ name, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } });

const VALUES = ["pub/a", "etc/shadow", "priv/x", "secret", "priv/%C3%A4", "pub/../priv/x", "pub/%2e%2e/priv"];

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: { subscribe: true }, completions: {} },
    serverInfo: { name: "places", version: "1" },
  }),
  "tools/list": () => ({ tools: ["read", "touch", "a b", "a_b"].map(tool) }),
  "resources/list": () => ({ resources: [{ uri: "file:///pub/a", name: "a" }] }),
  "resources/templates/list": () => ({
    resourceTemplates: [
      { uriTemplate: "file:///{+path}", name: "any" },
      { uriTemplate: "https://{+rest}", name: "web" },
      { uriTemplate: "notes://{+path}", name: "notes" },
    ],
  }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, text: "what it holds" }] }),
  "resources/subscribe": () => ({}),
  "resources/unsubscribe": () => ({}),
  "completion/complete": () => ({ completion: { values: VALUES, total: 7, hasMore: true } }),
  "tools/call"({ name, arguments: { uri } = {} }) {
    if (name === "touch") send({ method: "notifications/resources/updated", params: { uri } });
    return { content: [{ type: "text", text: "done" }] };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync(seen, `${line}\n`);
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const handler = methods[method];
  send(handler ? { id, result: handler(params ?? {}) } : { id, result: { reached: method } });
});
