/** Answers to questions of a call that waits in another process. */
import {
  decodeString,
  GatewayError,
  type HttpRequest,
  type HttpResponse,
  type Member,
} from "../../../contract/index.ts";
import type { Message } from "../../../wire/jsonrpc/index.ts";
import type { FrontContext } from "../front-context.ts";
import { refuse } from "../http/refuse.ts";
import { tellLost } from "../http/tell-lost.ts";
import { unavailable } from "../http/unavailable.ts";
import type { ModernContext } from "./modern-context.ts";
import { callLost, errorFinal } from "./results.ts";

const POLL_MS = 250;
/** Beyond the lease of a process that does not answer. */
const GRACE_MS = 2000;
const MOST_PASSED = 3;

export type RoundRequest = {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly catalog: string;
  readonly message: Message;
  readonly body: string;
};

/** False: it goes on here, or is no answer to anything. */
export function seekRound({ front, rounds }: ModernContext, asked: RoundRequest): boolean {
  const literal = asked.message.members?.textOf("requestState");
  const sealed = literal === undefined ? undefined : decodeString(literal);
  if (sealed === undefined) return false;
  const { catalog, message, response } = asked;
  const found = rounds.elsewhere({ catalog, principal: asked.request.principal }, sealed);
  if (!found) return false;
  handOver(front, asked, found.holder).then(
    (isDone) => {
      if (isDone || response.isOver) return;
      tellLost(front, asked.request, message);
      const { text, status } = errorFinal(message.id, callLost(found.call));
      response.answer(status, "Content-Type: application/json\r\n", text);
    },
    (cause) => refuse(front, asked, unavailable(cause, message.id)),
  );
  return true;
}

/** False: that process is gone, or took the answer and was never heard of again. Rejects with STATE_UNAVAILABLE. */
async function handOver(front: FrontContext, asked: RoundRequest, holder: string): Promise<boolean> {
  const { cluster, clock, timers } = front;
  const { request, response, body } = asked;
  const giveUpAt = clock.now() + (cluster?.leaseMs ?? 0) + GRACE_MS;
  while (!response.isOver) {
    const home: Member | undefined = await cluster?.state.members.find(holder);
    if (!home || !cluster?.hop) return false;
    if (cluster.hop.passed(request) >= MOST_PASSED) throw new GatewayError("STATE_UNAVAILABLE");
    const end = await cluster.hop.forward(request, body, response, home);
    if (end.type === "answered") return true;
    if (end.wasSent || clock.now() >= giveUpAt) return false;
    await new Promise<void>((resolve) => timers.after(POLL_MS, resolve));
  }
  return true;
}
