// A server on stdio whose tool works, as a task or not, until it is cancelled or a call of "finish" ends all that there is. The tool "made" says how often somebody made it work.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tasks = new Map();
const calls = new Set();
const made = new Map();
const text = (words) => ({ content: [{ type: "text", text: words }] });
const inputSchema = { type: "object" };

function end(id) {
  if (calls.delete(id)) send({ id, result: text("worked") });
}

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
    serverInfo: { name: "tasks", version: "1" },
  }),
  "tools/list": () => ({
    tools: [
      { name: "work", inputSchema, execution: { taskSupport: "optional" } },
      { name: "finish", inputSchema },
      { name: "made", inputSchema },
    ],
  }),
  "tools/call"({ name, task, arguments: { who } }, id) {
    if (name === "made") return text(`${made.get(who) ?? 0} times`);
    if (name === "finish") {
      for (const one of calls) end(one);
      for (const one of tasks.values()) one.status = "completed";
      return text("finished");
    }
    made.set(who, (made.get(who) ?? 0) + 1);
    if (!task) return void calls.add(id);
    const at = new Date().toISOString();
    const one = {
      taskId: `t${tasks.size}`,
      status: "working",
      createdAt: at,
      lastUpdatedAt: at,
      ttl: task.ttl ?? null,
    };
    tasks.set(one.taskId, one);
    return { task: one };
  },
  "tasks/get": ({ taskId }) => tasks.get(taskId),
  "tasks/result": () => text("worked"),
  "tasks/cancel"({ taskId }) {
    const task = tasks.get(taskId);
    task.status = "cancelled";
    return task;
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "notifications/cancelled") return end(params.requestId);
  if (id === undefined || method === undefined) return;
  if (!methods[method]) return send({ id, error: { code: -32601, message: "unknown" } });
  const answer = methods[method](params ?? {}, id);
  if (answer) send({ id, result: answer });
});
process.stdin.on("end", () => process.exit(0));
