/** Tools that go on as a task where the client takes one. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Json } from "../sdk.ts";
import { argumentsOf, rpcError } from "./call.ts";
import { elicitation, elicitText } from "./questions.ts";
import { NO_ARGUMENTS, type Tool, text } from "./tool.ts";

/** Long enough that a client sees the task at work. */
const WORK_MS = 200;

function properties(given: Json): Json {
  return { type: "object", properties: given };
}

function confirmation(message: string) {
  return elicitation(message, { confirm: { type: "boolean" } }, ["confirm"]);
}

export const taskTools: readonly Tool[] = [
  {
    name: "greet",
    description: "Greets at once; never a task",
    inputSchema: properties({ name: { type: "string" } }),
    run: async (call) => text(`Hello, ${argumentsOf(call).name}!`),
  },
  {
    name: "slow_compute",
    description: "Takes as long as it is told",
    inputSchema: properties({ seconds: { type: "number" }, label: { type: "string" } }),
    taskSupport: "optional",
    async run(call) {
      const { seconds, label } = argumentsOf(call);
      const { signal } = call.startTask();
      await sleep(Number(seconds) * 1_000, undefined, { signal });
      return text(`Computed ${label} in ${seconds} s`);
    },
  },
  {
    name: "failing_job",
    description: "Fails after a while; only as a task",
    inputSchema: NO_ARGUMENTS,
    taskSupport: "required",
    async run(call) {
      const { signal } = call.startTask();
      await sleep(WORK_MS, undefined, { signal });
      return { isError: true, ...text("The job has failed") };
    },
  },
  {
    name: "protocol_error_job",
    description: "Ends without a result",
    inputSchema: NO_ARGUMENTS,
    taskSupport: "optional",
    async run(call) {
      const { signal } = call.startTask();
      await sleep(WORK_MS, undefined, { signal });
      throw rpcError(-32603, "The job has broken down");
    },
  },
  {
    name: "confirm_delete",
    description: "Asks the user while it is a task",
    inputSchema: properties({ filename: { type: "string" } }),
    taskSupport: "optional",
    async run(call) {
      const { filename } = argumentsOf(call);
      const { ask } = call.startTask();
      const { confirm } = await ask({ confirm: confirmation(`Delete ${filename}?`) });
      return text(`Deletion of ${filename}: ${confirm?.action}`);
    },
  },
  {
    name: "multi_input",
    description: "Asks the user two things at once while it is a task",
    inputSchema: NO_ARGUMENTS,
    taskSupport: "optional",
    async run(call) {
      const { ask } = call.startTask();
      const { first, second } = await ask({ first: confirmation("First?"), second: confirmation("Second?") });
      return text(`First: ${first?.action}, second: ${second?.action}`);
    },
  },
  {
    name: "test_tool_with_task",
    description: "Asks the user, and then becomes a task",
    inputSchema: NO_ARGUMENTS,
    taskSupport: "required",
    async run(call) {
      const { user_name } = await call.ask({ user_name: elicitText("What is your name?", "name") });
      const { signal } = call.startTask();
      await sleep(WORK_MS, undefined, { signal });
      return text(`Hello, ${(user_name?.content as Json | undefined)?.name}!`);
    },
  },
];
