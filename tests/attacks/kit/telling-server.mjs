// A server on stdio whose every resource can be subscribed to, but for those below x://no/. What it is told to say by its one
// tool it says to everybody.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const answers = {
  initialize: () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: {}, logging: {}, resources: { subscribe: true } },
    serverInfo: { name: "telling", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "say", inputSchema: { type: "object" } }] }),
  "resources/list": () => ({ resources: [] }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "x://{+any}", name: "x" }] }),
  "tools/call"({ arguments: { method, params = {}, times = 1, bytes = 0 } }) {
    if (method === undefined) return { content: [{ type: "text", text: "well" }] };
    for (let turn = 0; turn < times; turn++) {
      const uri = `${params.uri}${turn === 0 ? "" : turn}`;
      send({ method, params: { ...params, ...(params.uri && { uri }), data: "d".repeat(bytes) } });
    }
    return { content: [{ type: "text", text: "said" }] };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (params?.uri?.startsWith("x://no/")) return send({ id, error: { code: -32602, message: "no" } });
  send({ id, result: answers[method]?.(params) ?? {} });
});
process.stdin.on("end", () => process.exit(0));
