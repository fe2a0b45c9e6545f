// A server on stdio whose answers are as long as its caller wants them, and have a number each. Tools: say { mib }, greet,
// and wait, which is answered when wake is.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
let answers = 0;
const waiting = [];
const MIB = "x".repeat(1024 * 1024);

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "wordy", version: "1" },
  }),
  "tools/list": () => ({
    tools: ["say", "greet", "wait", "wake"].map((name) => ({ name, inputSchema: { type: "object" } })),
  }),
  "tools/call": ({ name, arguments: { mib = 0 } = {} }) => ({
    content: [
      { type: "text", text: name === "say" ? MIB.repeat(mib) + MIB.slice(0, (mib % 1) * MIB.length) : "hello" },
    ],
    _meta: { number: ++answers },
  }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (params?.name === "wait") return void waiting.push(id);
  if (params?.name === "wake") for (const one of waiting.splice(0)) send({ id: one, result: methods[method](params) });
  if (methods[method]) send({ id, result: methods[method](params) });
  else send({ id, error: { code: -32601, message: "unknown" } });
});
process.stdin.on("end", () => process.exit(0));
