/** An MCP server over HTTP that answers lists and calls with what is no JSON, as long as it is told to. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type GarbageServer = AsyncDisposable & { readonly url: string; isBad: boolean };

export async function startGarbageServer(): Promise<GarbageServer> {
  const state = { isBad: true };
  const http = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { id, method } = request.method === "POST" ? JSON.parse(body) : {};
    if (request.method !== "POST") response.writeHead(405).end();
    else if (id === undefined) response.writeHead(202).end();
    else if (state.isBad && (method === "tools/list" || method === "tools/call"))
      answer(`{"jsonrpc":"2.0","id":${id},`);
    else answer(JSON.stringify({ jsonrpc: "2.0", id, ...answerOf(method) }));

    function answer(text: string): void {
      response.writeHead(200, { "content-type": "application/json" }).end(text);
    }
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  return Object.assign(state, {
    url,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  });
}

function answerOf(method: string): object {
  if (method === "initialize") {
    const serverInfo = { name: "garbage", version: "1" };
    return { result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } };
  }
  if (method === "tools/list") return { result: { tools: [{ name: "who", inputSchema: { type: "object" } }] } };
  if (method === "tools/call") return { result: { content: [{ type: "text", text: "garbage good" }] } };
  return { error: { code: -32601, message: "Method not found" } };
}
