/** Whether a gateway has something at the path of an address: a catalog, or one of its servers. */
import { NoAnswer } from "./channel.ts";
import { httpGet } from "./http-get.ts";
import { gatewayWords } from "./refusal.ts";

/** Of every gateway: all that it has. */
const WHOLE = "/mcp";
const TIMEOUT_MS = 5_000;

/** What it says where it has nothing there, in one line; undefined: it has, asks first who we are, or does not answer. */
export async function missingEndpoint(url: URL): Promise<string | undefined> {
  if (url.pathname === WHOLE) return undefined;
  try {
    const answer = await httpGet(url, TIMEOUT_MS);
    return answer.status === 404 ? missingLine(url, gatewayWords(answer.text)) : undefined;
  } catch (error) {
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}

function missingLine({ origin, pathname }: URL, words = "not found"): string {
  return `the gateway at ${origin} has nothing at ${pathname} for you: ${words}`;
}
