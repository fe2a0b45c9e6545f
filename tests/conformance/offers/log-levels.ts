import { rpcError } from "./call.ts";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** Returns `level`, or throws when there is no such level. */
export function checkLevel(level: unknown): string {
  if (!LEVELS.includes(String(level))) throw rpcError(-32602, `Unknown log level: ${level}`);
  return String(level);
}

export function isBelow(level: string, threshold: string): boolean {
  return LEVELS.indexOf(level) < LEVELS.indexOf(threshold);
}
