/** node:http with nothing on top: a POST gets an id, a GET an event stream that stays open. `node bare-http-server.mjs PORT`. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

const INITIALIZED =
  '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"bare","version":"1.0.0"}}}';
const streams = new Set();

const server = createServer((request, response) => {
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": open\n\n");
    streams.add(response);
    response.on("close", () => streams.delete(response));
    return;
  }
  request.resume().on("end", () => {
    if (request.headers["mcp-session-id"] !== undefined) return response.writeHead(202).end();
    response.writeHead(200, { "content-type": "application/json", "mcp-session-id": randomUUID() }).end(INITIALIZED);
  });
});
server.listen(Number(process.argv[2]), "127.0.0.1");
