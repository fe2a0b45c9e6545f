import { createHash } from "node:crypto";
import { headerLine } from "../../contract/index.ts";

/**
 * The line that lets a balancer send a client to the same process again. It routes and nothing else: nobody here ever reads
 * it back, so a forged one changes nothing. `path`: of the server, such as "/mcp".
 */
export function routeCookie(memberId: string, path: string): string {
  return headerLine("Set-Cookie", `gw_route=${nodeKey(memberId)}; Path=${path}; HttpOnly; Secure; SameSite=Lax`);
}

/** Says nothing about the process: its id is what it proves itself with to the store. */
function nodeKey(memberId: string): string {
  return createHash("sha256").update(`gw_route ${memberId}`).digest("base64url").slice(0, 22);
}
