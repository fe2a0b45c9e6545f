// An MCP server on stdio with resources, templates, prompts and an app. Every instance has the same URIs; the argument
// says whose they are.
import { createInterface } from "node:readline";

const [, , owner] = process.argv;
const NOTE = "note://today";
const APP = "ui://notes/app";
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const read = (uri) => ({ contents: [{ uri, mimeType: "text/plain", text: `${uri} of ${owner}` }] });

const content = [
  { type: "resource_link", uri: NOTE, name: "today" },
  { type: "resource", resource: { uri: "note://by-day/mon", text: NOTE } },
  { type: "text", text: NOTE },
];

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} },
    serverInfo: { name: "notes", version: "1" },
  }),
  "tools/list": () => ({
    tools: ["show", "touch", "drop"].map((name) => ({
      name,
      inputSchema: { type: "object" },
      _meta: { ui: { resourceUri: APP }, "ui/resourceUri": APP },
    })),
  }),
  "resources/list": () => ({
    resources: [
      { uri: NOTE, name: "today" },
      { uri: APP, name: "app" },
      { uri: `note://only/${owner}`, name: owner },
    ],
  }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "note://by-day/{day}", name: "by day" }] }),
  "prompts/list": () => ({ prompts: [{ name: "review" }] }),
  "resources/read": ({ uri }) => read(uri),
  "resources/subscribe": () => ({}),
  "prompts/get": () => ({ messages: [{ role: "user", content: content[0] }] }),
  "completion/complete": ({ ref }) => ({ completion: { values: [`${ref.uri ?? ref.name} of ${owner}`] } }),
  "tools/call"({ name }) {
    if (name === "touch") send({ method: "notifications/resources/updated", params: { uri: NOTE } });
    return { content, structuredContent: { uri: NOTE, owner }, _meta: { ui: { resourceUri: APP } } };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const handler = methods[method];
  if (handler) send({ id, result: handler(params ?? {}) });
  else send({ id, error: { code: -32601, message: "no such method" } });
});
