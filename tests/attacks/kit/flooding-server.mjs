// A server whose tool begins to write what its argument says, as fast as it is read, for as many ms as the argument says. On stdio, or
// with a port as its first argument over HTTP, where it floods the stream of the call.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const FLOODS = {
  words: "x\n",
  objects: "{}\n",
  batches: "[]\n",
  pings: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
  ids: "id: 1\n\n",
  answers: 'data: {"jsonrpc":"2.0","id":999,"result":{}}\n\n',
};
const port = process.argv[2];

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "flooding", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "flood", inputSchema: { type: "object" } }] }),
  ping: () => ({}),
};

function flood({ what, ms }, out, onOver) {
  const piece = FLOODS[what].repeat(Math.ceil(65_536 / FLOODS[what].length));
  const end = Date.now() + ms;
  const more = () => {
    while (Date.now() < end) if (!out.write(piece)) return out.once("drain", more);
    onOver?.();
  };
  more();
}

const answer = (id, result) => JSON.stringify({ jsonrpc: "2.0", id, result });

if (port === undefined) {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined || method === undefined) return;
    if (method !== "tools/call") return process.stdout.write(`${answer(id, methods[method]?.() ?? {})}\n`);
    process.stdout.write(`${answer(id, { content: [] })}\n`);
    flood(params.arguments, process.stdout);
  });
  process.stdin.on("end", () => process.exit(0));
} else {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    const { id, method, params } = text === "" ? {} : JSON.parse(text);
    if (request.method !== "POST") return response.writeHead(405).end();
    if (id === undefined) return response.writeHead(202).end();
    if (method !== "tools/call")
      return response.setHeader("Content-Type", "application/json").end(answer(id, methods[method]?.() ?? {}));
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    flood(params.arguments, response, () => response.end());
  });
  server.listen(Number(port), "127.0.0.1", () => process.stdout.write("listening\n"));
}
