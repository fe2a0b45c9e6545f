/**
 * A hand-written MCP server on `net`: `node http-upstream.ts --port N [--tools N] [--era 2026] [--sessions]`.
 * Serves `/mcp` and `/s0/mcp` … `/s199/mcp`, so that one process can stand for many servers. Prints the port it listens
 * on as its first line, and ends when its stdin does: it never outlives the run that started it.
 */
import { randomUUID } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { parseArgs } from "node:util";
import { createEchoAnswers, LEGACY, MODERN } from "./echo-answers.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string" },
    tools: { type: "string" },
    era: { type: "string" },
    sessions: { type: "boolean" },
  },
});
const echo = createEchoAnswers(Number(values.tools ?? 20), values.era === "2026" ? MODERN : LEGACY);
const PATH = /^\/(s\d{1,3}\/)?mcp$/;
const MAX_HEAD_BYTES = 16_384;

function writeStatus(socket: Socket, status: string): void {
  socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`);
}

function writeAnswer(socket: Socket, body: string): void {
  const message = JSON.parse(body);
  const pieces = echo.answer(message);
  if (pieces === undefined) {
    writeStatus(socket, "202 Accepted");
    return;
  }
  const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  const session =
    values.sessions === true && message.method === "initialize" ? `Mcp-Session-Id: ${randomUUID()}\r\n` : "";
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${session}Content-Length: ${length}\r\n\r\n`;
  const [first, ...rest] = pieces;
  if (rest.length === 0) {
    socket.write(head + first);
    return;
  }
  socket.cork();
  socket.write(head + first);
  for (const piece of rest) socket.write(piece);
  socket.uncork();
}

/** Serves every whole request in `data` and returns what is left over. */
function serveRequests(socket: Socket, data: Buffer): Buffer {
  let rest = data;
  while (rest.length > 0) {
    const headEnd = rest.indexOf("\r\n\r\n");
    if (headEnd === -1) {
      if (rest.length > MAX_HEAD_BYTES) socket.destroy();
      return rest;
    }
    const head = rest.toString("latin1", 0, headEnd);
    const [method, path] = head.slice(0, head.indexOf("\r\n")).split(" ");
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (method === "POST" && length === undefined) {
      socket.end("HTTP/1.1 411 Length Required\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return Buffer.alloc(0);
    }
    const end = headEnd + 4 + Number(length ?? 0);
    if (rest.length < end) return rest;
    if (!PATH.test(path ?? "")) writeStatus(socket, "404 Not Found");
    else if (method === "POST") writeAnswer(socket, rest.toString("utf8", headEnd + 4, end));
    else writeStatus(socket, method === "DELETE" ? "200 OK" : "405 Method Not Allowed");
    rest = rest.subarray(end);
  }
  return rest;
}

const server = createServer({ noDelay: true }, (socket) => {
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    try {
      rest = serveRequests(socket, rest.length === 0 ? chunk : Buffer.concat([rest, chunk]));
    } catch {
      socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    }
  });
  socket.on("error", () => socket.destroy());
});
server.listen(Number(values.port ?? 0), "127.0.0.1", 4096, () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`);
});
process.stdin.on("end", () => process.exit(0)).resume();
