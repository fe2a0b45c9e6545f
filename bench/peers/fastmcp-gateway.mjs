/** A gateway written with fastmcp: `node fastmcp-gateway.mjs URL PORT`. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { FastMCP, jsonSchemaAdapter } from "fastmcp";

const [url, port] = process.argv.slice(2);
const client = new Client({ name: "fastmcp-gateway", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));

const gateway = new FastMCP({ name: "fastmcp-gateway", version: "1.0.0" });
const { tools } = await client.listTools();
gateway.addTools(
  tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    parameters: jsonSchemaAdapter(tool.inputSchema),
    execute: (input) => client.callTool({ name: tool.name, arguments: input }),
  })),
);
await gateway.start({ transportType: "httpStream", httpStream: { host: "127.0.0.1", port: Number(port) } });
