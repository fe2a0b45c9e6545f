// An MCP server in plain Node: one JSON message per line on standard input and output.
import { setTimeout as sleep } from "node:timers/promises";

const text = (value) => ({ content: [{ type: "text", text: value }] });

const tools = [
  {
    name: "greet",
    description: "Greets someone by name.",
    inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    annotations: { readOnlyHint: true },
    run: ({ name }) => text(`Hello, ${name}!`),
  },
  {
    name: "add",
    description: "Adds two numbers.",
    inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
    annotations: { readOnlyHint: true },
    run: ({ a, b }) => text(String(a + b)),
  },
  {
    name: "count",
    description: "Counts slowly and reports progress on the way.",
    inputSchema: { type: "object", properties: { to: { type: "integer", minimum: 1 } }, required: ["to"] },
    annotations: { readOnlyHint: true },
    async run({ to }, report) {
      for (let step = 1; step <= to; step++) {
        report(step, to);
        await sleep(20);
      }
      return text(`Counted to ${to}.`);
    },
  },
];

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

async function callTool(id, { name, arguments: args = {}, _meta: { progressToken } = {} }) {
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) return send({ id, error: { code: -32602, message: `no such tool: ${name}` } });
  const report = (progress, total) => {
    if (progressToken !== undefined)
      send({ method: "notifications/progress", params: { progressToken, progress, total } });
  };
  send({ id, result: await tool.run(args, report) });
}

// Messages end with a line feed and with nothing else: readline would also break them at U+2028, which may stand in a text.
async function* lines() {
  let rest = "";
  for await (const piece of process.stdin.setEncoding("utf8")) {
    const parts = (rest + piece).split("\n");
    rest = parts.pop();
    yield* parts;
  }
}

for await (const line of lines()) {
  const { id, method, params = {} } = JSON.parse(line);
  // What has no id is a notification and gets no answer.
  if (id === undefined) continue;
  if (method === "initialize") {
    const serverInfo = { name: "hello", version: "1.0.0" };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list")
    send({ id, result: { tools: tools.map(({ run, ...definition }) => definition) } });
  else if (method === "tools/call") void callTool(id, params);
  else if (method === "ping") send({ id, result: {} });
  else send({ id, error: { code: -32601, message: `no such method: ${method}` } });
}
