// An MCP server that says who it is: its process, its arguments, and one of its variables. `wait` answers after a while,
// `touch` tells of a change of the resource if somebody has subscribed to it,
// and a tool called `fail` answers that it failed.
import { createInterface } from "node:readline";

const tools = ["who", "wait", "touch", ...process.argv.slice(2)].map((name) => ({
  name,
  inputSchema: { type: "object" },
}));
const resource = { uri: "echo://self", name: "self" };
let isWatched = false;
const who = () => JSON.stringify({ pid: process.pid, args: process.argv.slice(2), token: process.env.TOKEN ?? null });

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  if (method === "initialize") {
    const { protocolVersion } = params;
    const capabilities = { tools: {}, resources: { subscribe: true } };
    send({ id, result: { protocolVersion, capabilities, serverInfo: { name: "echo", version: "1" } } });
  } else if (method === "tools/list") send({ id, result: { tools } });
  else if (method === "resources/list") send({ id, result: { resources: [resource] } });
  else if (method === "resources/subscribe") {
    isWatched = true;
    send({ id, result: {} });
  } else if (method === "tools/call") {
    if (params.name === "touch" && isWatched)
      send({ method: "notifications/resources/updated", params: { uri: resource.uri } });
    const ms = params.name === "wait" ? params.arguments.ms : 0;
    const isError = params.name === "fail" && { isError: true };
    setTimeout(() => send({ id, result: { content: [{ type: "text", text: who() }], ...isError } }), ms);
  } else send({ id, error: { code: -32601, message: "method not found" } });
}
