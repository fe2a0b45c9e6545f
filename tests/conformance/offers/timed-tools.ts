/** Tools that send something while they run. */
import { setTimeout as sleep } from "node:timers/promises";
import { NO_ARGUMENTS, type Tool, text } from "./tool.ts";

/** Long enough that each notification is a chunk of its own. */
const STEP_MS = 50;

export const timedTools: readonly Tool[] = [
  {
    name: "test_tool_with_logging",
    description: "Sends three log messages, then answers",
    inputSchema: NO_ARGUMENTS,
    async run({ log }) {
      await log("info", "Tool execution started");
      await sleep(STEP_MS);
      await log("info", "Tool processing data");
      await sleep(STEP_MS);
      await log("info", "Tool execution completed");
      return text("Tool with logging executed successfully");
    },
  },
  {
    name: "test_logging_tool",
    description: "Sends one log message, then answers",
    inputSchema: NO_ARGUMENTS,
    async run({ log }) {
      await log("error", "Logging evaluated");
      return text("Logging evaluated");
    },
  },
  {
    name: "test_tool_with_progress",
    description: "Reports progress three times when asked to, then answers",
    inputSchema: NO_ARGUMENTS,
    async run({ progressToken, notify }) {
      for (const progress of [0, 50, 100]) {
        if (progress > 0) await sleep(STEP_MS);
        if (progressToken === undefined) continue;
        const params = { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` };
        await notify("notifications/progress", params);
      }
      return text("Tool with progress executed successfully");
    },
  },
  {
    name: "test_reconnection",
    description: "Closes its own stream; the answer waits for whoever resumes it",
    inputSchema: NO_ARGUMENTS,
    async run({ closeStream }) {
      await sleep(STEP_MS);
      closeStream?.();
      await sleep(2 * STEP_MS);
      return text("Reconnection test completed successfully");
    },
  },
];
