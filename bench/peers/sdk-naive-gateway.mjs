/** The official SDK on both sides, answers as JSON: `node sdk-naive-gateway.mjs PORT URL` or `… PORT COMMAND ARGS…`. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [port, target, ...args] = process.argv.slice(2);
const client = new Client({ name: "sdk-naive", version: "1.0.0" });
await client.connect(
  target.startsWith("http")
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args }),
);

const sessions = new Map();

async function openSession() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  const server = new Server({ name: "sdk-naive", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, (request) => client.listTools(request.params));
  server.setRequestHandler(CallToolRequestSchema, (request) => client.callTool(request.params));
  await server.connect(transport);
  return transport;
}

const server = createServer(async (request, response) => {
  try {
    const transport = sessions.get(request.headers["mcp-session-id"]) ?? (await openSession());
    await transport.handleRequest(request, response);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});
server.listen(Number(port), "127.0.0.1");
