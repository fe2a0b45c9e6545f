/** What a client sees of an error and what the log says of it, made by the code that answers. */
import { type ErrorCode, GatewayError } from "../../src/contract/index.ts";
import { errorParts } from "../../src/fronts/mcp/mcp-errors.ts";

const CALL_ID = "5f0c2e4b-8d7a-4c7e-9b1f-2a6d1c3e4f50-7";

/** Methods that name something, of which the 2025 era says differently that it is not there. */
const NAMING = ["tools/call", "prompts/get", "resources/read"] as const;

export function describeAnswers(code: ErrorCode): string[] {
  if (code === "NO_SUCH_TARGET") return [...describeUnknownName(), ...describeLine(code)];
  const onCall = errorParts("tools/call", new GatewayError(code), CALL_ID);
  const elsewhere = errorParts("prompts/get", new GatewayError(code), CALL_ID);
  if ("error" in onCall) return ["In both eras, on every method:", block(onCall), ...describeLine(code)];
  return [
    'On `tools/call` a result, so that the model can read it. 2026-07-28 adds `"resultType": "complete"` and who answered:',
    block(onCall),
    "On every other method an error, the same in both eras:",
    block(elsewhere),
    ...describeLine(code),
  ];
}

/** The front itself finds that a name is not there; the code is in the answer only when a server goes during the call. */
function describeUnknownName(): string[] {
  const numbers = NAMING.map((method) => {
    const parts = errorParts(method, new GatewayError("NO_SUCH_TARGET"), CALL_ID);
    return `${"error" in parts ? parts.error.code : ""} on \`${method}\``;
  });
  return [
    `In the 2025 era an error with a number by method: ${numbers.join(", ")}. In 2026-07-28 it is always -32602.`,
    block({ error: { code: -32601, message: "Unknown tool: files.raed_file" } }),
    "When the server went away during the call, the error has `data` too:",
    block(errorParts("tools/call", new GatewayError("NO_SUCH_TARGET"), CALL_ID)),
  ];
}

function describeLine(code: ErrorCode): string[] {
  const line = {
    time: "2026-11-15T09:23:04.821Z",
    level: "info",
    message: "call finished",
    callId: CALL_ID,
    target: "files/read_file",
    principal: "local",
    front: "mcp",
    code,
    durationMs: 12.3,
  };
  return [
    "## In the log",
    `\`\`\`json\n${JSON.stringify(line)}\n\`\`\``,
    "`callId` is that of the answer; `isthmus trace` with it shows each step of the call. What is answered before it " +
      "becomes a call (a message that cannot be read, a name that is not there) has no line.",
  ];
}

function block(value: object): string {
  return `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``;
}
