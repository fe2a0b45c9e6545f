/**
 * A server may say what it was sent, a secret header say, in the place of anything. Messages go to the log and the console: they
 * quote it only where its form leaves no room for a secret.
 */
import type { Message } from "../../wire/jsonrpc/index.ts";

const DATE = /^\d{4}-\d\d-\d\d$/;
const SHORT_VERSION = /^\d(?:\.\d){0,2}$/;
const CODE = /^-?\d{1,6}$/;

/** "MCP 2023-01-01", or in words that there is no such version. */
export function quotedVersion(version: string): string {
  return DATE.test(version) || SHORT_VERSION.test(version) ? `MCP ${version}` : "MCP in an unknown version";
}

/** The code of an error. */
export function quotedCode(members: Message["members"]): string {
  const code = members?.textOf("code") ?? "";
  return CODE.test(code) ? code : "unknown";
}
