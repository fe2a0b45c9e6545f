/**
 * A server on stdio that says all the time that its very long list of tools has changed:
 * `node noisy-upstream.ts --tools 100000 --every 1000 [--change] [--notice 15]`. With `--change` one description really is another
 * one each time; with `--notice` it sends a notification of so many MiB instead.
 */
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    tools: { type: "string" },
    every: { type: "string" },
    change: { type: "boolean" },
    notice: { type: "string" },
  },
});
const count = Number(values.tools ?? 100_000);
const rest = Array.from({ length: count - 1 }, (_, index) => {
  return `{"name":"tool_${index}","description":"Does what tool ${index} does.","inputSchema":{"type":"object"}}`;
}).join(",");
let version = 0;
const data = "x".repeat(Number(values.notice ?? 0) * 1024 * 1024);
const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
const notice = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${data}"}}`;

const send = (text: string) => void process.stdout.write(`${text}\n`);
const answer = (id: number, result: string) => send(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);

function listed(): string {
  const first = `{"name":"changing","description":"Version ${version}.","inputSchema":{"type":"object"}}`;
  return `{"tools":[${first},${rest}]}`;
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line) as { id?: number; method?: string };
  if (id === undefined) return;
  if (method === "initialize")
    answer(
      id,
      '{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"noisy","version":"1"}}',
    );
  else if (method === "tools/list") answer(id, listed());
  else if (method === "tools/call") answer(id, '{"content":[]}');
  else send(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"unknown"}}`);
});

setInterval(
  () => {
    if (values.change) version++;
    send(data === "" ? changed : notice);
  },
  Number(values.every ?? 1_000),
);
process.stdin.on("end", () => process.exit(0));
