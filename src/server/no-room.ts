/** Whose messages take up the memory of the gateway, and what a client hears for whose message there is none. */
import {
  GatewayError,
  type Holder,
  type HttpRequest,
  type HttpResponse,
  holderOf,
  identityOf,
  textOf,
} from "../contract/index.ts";
import { networkOf } from "./http/index.ts";
import { answerOwnProblem, isAdmin } from "./own-problem.ts";

/** Of what V8 may have: a message that is read, changed, written and sent takes up to four times as much. */
const PART_OF_HEAP = 1 / 8;

export function budgetBytes(heapBytes: number): number {
  return Math.floor(heapBytes * PART_OF_HEAP);
}

/** Of a message that nobody has asked for yet, only its connection is known. */
export function heldBy(peer: string, request: HttpRequest | undefined): Holder {
  if (!request) return { name: `address ${networkOf(peer)}`, group: "unknown callers" };
  return holderOf(request.principal, networkOf(request.clientAddress ?? peer));
}

/** Who has a share of the connections: not whoever is on this machine or at the other end of the hop, nor who is not known by name. */
export function callerOf({ principal }: HttpRequest): Holder | undefined {
  const { proof } = identityOf(principal);
  return proof === "none" || proof === "local" ? undefined : holderOf(principal, "");
}

const MESSAGE =
  "The gateway holds too much of this caller's messages for another one of that size; try again in a moment.";
const RETRY = "Retry-After: 1\r\n";
const LINES = `${RETRY}Content-Type: application/json\r\nCache-Control: no-store\r\n`;

export function answerNoRoom(request: HttpRequest, response: HttpResponse): void {
  request.discard();
  if (isAdmin(request)) {
    const title = "Service Unavailable";
    return answerOwnProblem(response, { status: 503, code: "OVERLOADED", title, detail: MESSAGE }, RETRY);
  }
  const { code, message } = new GatewayError("OVERLOADED", { message: MESSAGE });
  const body = { jsonrpc: "2.0", id: null, error: { code: -32000, message, data: { code, retry: "later" } } };
  response.answer(503, LINES, textOf(JSON.stringify(body)));
}
