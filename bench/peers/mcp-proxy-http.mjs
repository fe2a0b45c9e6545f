/** mcp-proxy's own command line with an HTTP client in place of its stdio one: `node mcp-proxy-http.mjs URL PORT`. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Server } from "@modelcontextprotocol/server";
import { proxyServer, startHTTPServer } from "mcp-proxy";

const [url, port] = process.argv.slice(2);
const client = new Client({ name: "mcp-proxy", version: "1.0.0" }, { capabilities: {} });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));

async function createServer() {
  const serverCapabilities = client.getServerCapabilities();
  const server = new Server(client.getServerVersion(), { capabilities: serverCapabilities });
  await proxyServer({ client, server, serverCapabilities });
  return server;
}

await startHTTPServer({
  createServer,
  host: "127.0.0.1",
  port: Number(port),
  sseEndpoint: null,
  streamEndpoint: "/mcp",
});
