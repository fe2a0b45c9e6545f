/** Whether a server that wants credentials says where they are to be had, as MCP asks it to (RFC 9728). */
import { NoAnswer } from "../client/channel.ts";
import { jsonOf } from "../client/http-get.ts";
import { type HttpOrder, httpSend } from "../client/http-send.ts";
import { listOf, objectOf } from "../json.ts";

const TIMEOUT_MS = 2_000;
const MAX_BYTES = 256 * 1024;
const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** By its refusal, else by the document at the places where it may stand. Nobody is named, and nothing is asked for. */
export async function tellsWhereToSignIn(url: URL): Promise<boolean> {
  const body = { jsonrpc: "2.0", id: 1, method: "ping" };
  const refused = await answerOf({ method: "POST", url, body });
  if (/\bresource_metadata\s*=/i.test(refused?.challenge ?? "")) return true;
  const paths = new Set([`${WELL_KNOWN}${url.pathname.replace(/\/$/, "")}`, WELL_KNOWN]);
  for (const path of paths) {
    const found = await answerOf({ method: "GET", url: new URL(path, url) });
    if (found?.status !== 200) continue;
    if (listOf(objectOf(jsonOf(found)).authorization_servers).length > 0) return true;
  }
  return false;
}

async function answerOf(order: HttpOrder) {
  try {
    return await httpSend({ ...order, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, isAnonymous: true });
  } catch (error) {
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}
