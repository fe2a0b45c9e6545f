// A server on stdio. Tools: ask, which asks its caller for a name before it answers; touch, which changes its one resource and tells so. Its argument is the URI of that.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const asked = new Map();
const uri = process.argv[2];
const text = (words) => ({ content: [{ type: "text", text: words }] });
const form = { type: "object", properties: { name: { type: "string" } } };

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: { subscribe: true } },
    serverInfo: { name: "asking", version: "1" },
  }),
  "tools/list": () => ({ tools: ["ask", "touch"].map((name) => ({ name, inputSchema: { type: "object" } })) }),
  "resources/list": () => ({ resources: [{ uri, name: "a" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/read": () => ({ contents: [{ uri, text: "a memo" }] }),
  "resources/subscribe": () => ({}),
  "resources/unsubscribe": () => ({}),
  "tools/call"({ name }, id) {
    if (name === "touch") {
      send({ method: "notifications/resources/updated", params: { uri } });
      return text("touched");
    }
    const question = `question ${asked.size}`;
    asked.set(question, id);
    send({ id: question, method: "elicitation/create", params: { message: "name?", requestedSchema: form } });
    return undefined;
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) return send({ id: asked.get(id), result: text(`the secret of ${result?.content?.name}`) });
  if (id === undefined) return;
  if (!methods[method]) return send({ id, error: { code: -32601, message: "unknown" } });
  const answer = methods[method](params, id);
  if (answer) send({ id, result: answer });
});
process.stdin.on("end", () => process.exit(0));
