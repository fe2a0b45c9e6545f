import { argumentsOf } from "./call.ts";
import { type Tool, text } from "./tool.ts";

/** A tool with arguments that clients of 2026-07-28 repeat in headers. */
export const headerTool: Tool = {
  name: "test_custom_headers",
  description: "Repeats its arguments, two of which are also headers",
  inputSchema: {
    type: "object",
    properties: {
      region: { type: "string", description: "Any text", "x-mcp-header": "Region" },
      priority: { type: "integer", description: "Any integer", "x-mcp-header": "Priority" },
      query: { type: "string", description: "Not a header" },
    },
  },
  run: async (call) => text(`Called with: ${JSON.stringify(argumentsOf(call))}`),
};
