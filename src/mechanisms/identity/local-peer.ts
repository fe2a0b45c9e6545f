import type { HttpRequest } from "../../contract/index.ts";

const LOOPBACK = /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$|^::1$/;
/** Whoever passes requests on says so in one of these: then the client may be anywhere. */
const PASSED_ON = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/** Whether a request comes from this machine, and not through something on it. */
export function isLocalPeer({ peer, headers }: HttpRequest): boolean {
  return peer !== undefined && LOOPBACK.test(peer.address) && PASSED_ON.every((name) => headers[name] === undefined);
}
