/** A program on a free loopback port that says where it listens and ends with the one who started it. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { Readable } from "node:stream";

export function listen(handle: RequestListener): void {
  const server = createServer(handle);
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    process.stdout.write(`http://127.0.0.1:${address.port}/mcp\n`);
  });
  process.once("disconnect", () => process.exit(0));
}

/** For handlers that take a web request. The request's signal aborts when the client closes the response. */
export async function serveWeb(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
  const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
  const url = `http://${incoming.headers.host}${incoming.url}`;
  const request = new Request(url, { method: incoming.method ?? "GET", headers, body, signal: gone.signal });
  const response = await handle(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) outgoing.end();
  else
    Readable.from(response.body)
      .on("error", () => outgoing.destroy())
      .pipe(outgoing);
}
