/** How the driver tells the runner of calls that have failed: a line each among what the suite keeps of its stderr. */
import type { Check } from "./suite.ts";

export function failedCall(tool: string, error: unknown): string {
  return `call failed: ${tool}: ${String(error).replaceAll("\n", " ")}\n`;
}

/** A failed check for each. */
export function readFailedCalls(stderr: string): Check[] {
  return [...stderr.matchAll(/^call failed: (\S+): (.*)$/gm)].map(([, tool, errorMessage = ""]) => ({
    id: `call-${tool}`,
    status: "FAILURE",
    errorMessage,
  }));
}
