/** Tools that send something while they run. */
import { setTimeout as sleep } from "node:timers/promises";
import { NO_ARGUMENTS, type Tool, text } from "./content-tools.ts";
import { log } from "./session.ts";

/** Long enough that each notification is a chunk of its own. */
const STEP_MS = 50;

export const timedTools: readonly Tool[] = [
  {
    name: "test_tool_with_logging",
    description: "Sends three log messages, then answers",
    inputSchema: NO_ARGUMENTS,
    async run(call) {
      await log(call, "info", "Tool execution started");
      await sleep(STEP_MS);
      await log(call, "info", "Tool processing data");
      await sleep(STEP_MS);
      await log(call, "info", "Tool execution completed");
      return text("Tool with logging executed successfully");
    },
  },
  {
    name: "test_tool_with_progress",
    description: "Reports progress three times when asked to, then answers",
    inputSchema: NO_ARGUMENTS,
    async run({ exchange }) {
      const progressToken = exchange._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progress > 0) await sleep(STEP_MS);
        if (progressToken === undefined) continue;
        const params = { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` };
        await exchange.sendNotification({ method: "notifications/progress", params });
      }
      return text("Tool with progress executed successfully");
    },
  },
  {
    name: "test_reconnection",
    description: "Closes its own stream; the answer waits for whoever resumes it",
    inputSchema: NO_ARGUMENTS,
    async run({ exchange }) {
      await sleep(STEP_MS);
      exchange.closeSSEStream?.();
      await sleep(2 * STEP_MS);
      return text("Reconnection test completed successfully");
    },
  },
];
