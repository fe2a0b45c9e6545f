// An MCP server on stdio that writes down every message it gets, so that a test can see what has reached it. Every instance
// has the same names and URIs.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , owner, seen] = process.argv;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const content = [{ type: "text", text: `answered by ${owner}` }];
const now = new Date(0).toISOString();
const task = { taskId: "t1", status: "completed", createdAt: now, lastUpdatedAt: now, ttl: 60_000, pollInterval: 10 };

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: {
      tools: {},
      resources: { subscribe: true },
      prompts: {},
      completions: {},
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    },
    serverInfo: { name: owner, version: "1" },
  }),
  "tools/list": () => ({
    tools: ["show", "drop"].map((name) => ({
      name,
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      execution: { taskSupport: "optional" },
    })),
  }),
  "resources/list": () => ({
    resources: [
      { uri: "note://today", name: "today" },
      { uri: `note://only/${owner}`, name: owner },
    ],
  }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "note://by-day/{day}", name: "by day" }] }),
  "prompts/list": () => ({ prompts: [{ name: "review", arguments: [{ name: "mark" }] }] }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, mimeType: "text/plain", text: owner }] }),
  "resources/subscribe": () => ({}),
  "resources/unsubscribe": () => ({}),
  "prompts/get": () => ({ messages: [{ role: "user", content: content[0] }] }),
  "completion/complete": () => ({ completion: { values: ["mon", "tue"] } }),
  "tools/call"({ name, task: wanted }) {
    if (name === "drop") send({ method: "notifications/resources/updated", params: { uri: "note://today" } });
    return wanted ? { task } : { content };
  },
  "tasks/get": () => task,
  "tasks/result": () => ({ content }),
  "x/raw": () => ({ reached: owner }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync(seen, `${owner} ${line}\n`);
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const handler = methods[method];
  if (handler) send({ id, result: handler(params ?? {}) });
  else send({ id, error: { code: -32601, message: "no such method" } });
});
