// An MCP server on stdio that reads whatever it is asked for. Its arguments: its templates, the resources it lists, and the values
// it completes with, each as JSON. A call of "touch" tells that a resource has changed.
import { createInterface } from "node:readline";

const [templates = [], resources = [], values = []] = process.argv.slice(2).map((text) => JSON.parse(text));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: { subscribe: true }, completions: {} },
    serverInfo: { name: "templates", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "touch", inputSchema: { type: "object" } }] }),
  "resources/list": () => ({ resources: resources.map((uri) => ({ uri, name: uri })) }),
  "resources/templates/list": () => ({
    resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
  }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, text: "what it holds" }] }),
  "resources/subscribe": () => ({}),
  "resources/unsubscribe": () => ({}),
  "completion/complete": () => ({ completion: { values } }),
  "tools/call"({ arguments: { uri } = {} }) {
    send({ method: "notifications/resources/updated", params: { uri } });
    return { content: [] };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const handler = methods[method];
  send(handler ? { id, result: handler(params ?? {}) } : { id, error: { code: -32601, message: "no such method" } });
});
