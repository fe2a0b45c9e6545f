import type { Json } from "../sdk.ts";
import type { Call } from "./call.ts";

export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Json;
  /** Whether a call may, or must, go on as a task. Absent: it never does. */
  readonly taskSupport?: "optional" | "required";
  /** Runs the tool; its arguments are not validated. */
  run(call: Call): Promise<Json>;
};

export const NO_ARGUMENTS = { type: "object", properties: {} };

export function text(value: string): Json {
  return { content: [{ type: "text", text: value }] };
}
