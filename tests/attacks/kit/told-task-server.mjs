// A server on stdio whose one tool is a task of its own, which is over at once: as `how` says, completed or failed, which its result
// says, too; "late": completed, and only its result says that it failed; "fault": its result is an error; "slow": it works on.
// It writes the method of each request to the file that is its argument, and the task that it is about or said to belong to.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const file = process.argv[2];
const tasks = new Map();
const STATUS = { failed: "failed", slow: "working" };

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
    serverInfo: { name: "told", version: "1" },
  }),
  "tools/list": () => ({
    tools: [{ name: "dump", inputSchema: { type: "object" }, execution: { taskSupport: "required" } }],
  }),
  "tools/call"({ task, arguments: { how } }) {
    const at = new Date().toISOString();
    const taskId = `${process.pid}-${tasks.size}`;
    const times = { createdAt: at, lastUpdatedAt: at, ttl: task.ttl ?? null };
    tasks.set(taskId, { how, told: { taskId, status: STATUS[how] ?? "completed", ...times } });
    return { task: { taskId, status: "working", ...times } };
  },
  "tasks/get": ({ taskId }) => tasks.get(taskId).told,
  "tasks/result": ({ taskId }) => ({
    isError: ["failed", "late"].includes(tasks.get(taskId).how),
    content: [{ type: "text", text: "ALL THE RECORDS" }],
  }),
  "tasks/cancel": ({ taskId }) => Object.assign(tasks.get(taskId).told, { status: "cancelled" }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  const related = params?._meta?.["io.modelcontextprotocol/related-task"]?.taskId;
  appendFileSync(file, `${method} ${params?.taskId ?? related ?? ""}\n`);
  const isFault = method === "tasks/result" && tasks.get(params.taskId)?.how === "fault";
  if (!methods[method] || isFault) return send({ id, error: { code: -32603, message: "no" } });
  send({ id, result: methods[method](params) });
});
process.stdin.on("end", () => process.exit(0));
