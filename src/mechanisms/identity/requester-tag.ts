/**
 * The name by which a gateway behind us knows one of our callers: always the same one, and nobody can tell from it who that is. It is
 * another one at each server: what a server says it is must be believed, and two shall not find out whom both of them serve.
 */
import { createHmac, hkdfSync, randomBytes } from "node:crypto";
import { type Call, identityOf } from "../../contract/index.ts";

export type RequesterTag = (call: Call) => string;

const INFO = "isthmus requester 2";

/** `master`: what all processes of the gateway know; unset: random, so that names last until the process ends. */
export function requesterTag(master: Uint8Array = randomBytes(32)): RequesterTag {
  const key = Buffer.from(hkdfSync("sha256", master, Buffer.alloc(0), INFO, 32));
  return ({ principal, session, target, origin: { requester } }) => {
    // Another process of ours has named its caller already.
    if (session?.isPeer && requester !== undefined) return requester;
    const who = JSON.stringify([target.provider, identityOf(principal).tenant, principal.id, requester ?? ""]);
    return createHmac("sha256", key).update(who).digest("base64url");
  };
}
