// A server on stdio that goes on after it has answered: what it was given to work on it logs afterwards, and then asks about it, in
// no call that anybody can tell. `wait` is answered when that has been said, and whatever is given is answered when `wait` waits.
import { createInterface } from "node:readline";

const SOON_MS = 100;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (words) => ({ content: [{ type: "text", text: words }] });
const tool = (name) => ({ name, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } });
const waiting = [];
const given = [];

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, prompts: {}, resources: {}, logging: {} },
    serverInfo: { name: "late", version: "1" },
  }),
  "tools/list": () => ({ tools: ["wait", "work"].map(tool) }),
  "prompts/list": () => ({ prompts: [{ name: "work", arguments: [{ name: "words" }] }] }),
  "resources/list": () => ({ resources: [{ uri: "late:///work", name: "work" }] }),
  "logging/setLevel": () => ({}),
};

const works = {
  "tools/call": ({ arguments: { words } }) => [words, text("begun")],
  "prompts/get": ({ arguments: { words } }) => [
    words,
    { messages: [{ role: "user", content: { type: "text", text: "begun" } }] },
  ],
  "resources/read": ({ uri }) => ["what was read", { contents: [{ uri, text: "begun" }] }],
};

function goOn() {
  if (waiting.length === 0 || given.length === 0) return;
  const { id, words, result } = given.shift();
  send({ id, result });
  setTimeout(() => {
    send({ method: "notifications/message", params: { level: "error", data: `LATER ${words}` } });
    send({ id: `about ${words}`, method: "elicitation/create", params: { message: `LATER ${words}` } });
    setTimeout(() => {
      for (const id of waiting.splice(0)) send({ id, result: text("waited") });
    }, SOON_MS);
  }, SOON_MS);
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  if (params.name === "wait") waiting.push(id);
  else if (works[method]) {
    const [words, result] = works[method](params);
    given.push({ id, words, result });
  } else if (methods[method]) return send({ id, result: methods[method]() });
  else return send({ id, error: { code: -32601, message: "unknown" } });
  goOn();
});
process.stdin.on("end", () => process.exit(0));
