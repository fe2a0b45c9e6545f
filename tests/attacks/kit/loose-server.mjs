// A server on stdio that reads keys as Go's encoding/json and the models of the Python SDK do: case and strokes make no difference.
// It writes each line that it reads to the file that is its argument. Tools: ask, which asks its caller for a name; secret, read and wipe, which say what they were called with.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const loose = (key) => key.replace(/[_-]/g, "").toUpperCase().toLowerCase();
const members = (value) => Object.fromEntries(Object.entries(value ?? {}).map(([key, inner]) => [loose(key), inner]));
const text = (words) => ({ content: [{ type: "text", text: words }] });
const form = { type: "object", properties: { name: { type: "string" } } };
const asked = new Map();
const file = process.argv[2];

const tool = (name) => ({
  name,
  inputSchema: { type: "object" },
  annotations: name === "wipe" ? { destructiveHint: true } : { readOnlyHint: true },
});

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, prompts: {}, completions: {}, logging: {} },
    serverInfo: { name: "loose", version: "1" },
  }),
  "logging/setLevel": () => ({}),
  "tools/list": () => ({ tools: ["ask", "secret", "read", "wipe"].map(tool) }),
  "prompts/list": () => ({ prompts: [{ name: "open" }, { name: "closed" }] }),
  "prompts/get": ({ arguments: args }) => ({
    messages: [{ role: "user", content: { type: "text", text: `DONE ${JSON.stringify(args)}` } }],
  }),
  "completion/complete": ({ ref }) => ({ completion: { values: [`DONE ${members(ref).name}`] } }),
  "tools/call"({ name, arguments: args }, id) {
    if (name === "ask") {
      const question = `question ${asked.size}`;
      asked.set(question, id);
      send({ id: question, method: "elicitation/create", params: { message: "name?", requestedSchema: form } });
      return undefined;
    }
    return text(`DONE ${name} ${JSON.stringify(args)}`);
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync(file, `${line}\n`);
  const { id, method, params } = members(JSON.parse(line));
  if (method === undefined) return send({ id: asked.get(id), result: text("answered") });
  if (id === undefined) return;
  const answer = methods[method]?.(members(params), id);
  if (answer) send({ id, result: answer });
  else if (!methods[method]) send({ id, error: { code: -32601, message: "unknown" } });
});
process.stdin.on("end", () => process.exit(0));
