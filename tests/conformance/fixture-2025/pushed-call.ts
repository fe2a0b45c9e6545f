/** Makes an offer's view of a 2025 request: what it asks and tells is pushed on the stream of the request. */
import type { Call, Question } from "../offers/call.ts";
import { isBelow } from "../offers/log-levels.ts";
import { type Exchange, type Json, load } from "../sdk.ts";
import type { Session } from "./session.ts";
import { RELATED } from "./tasks.ts";

const { ResultSchema } = await load<{ ResultSchema: unknown }>("sdk/dist/esm/types.js");

/** Names a question, so that a gateway can show it to clients of 2026-07-28 under this key. */
const KEY = "dev.isthmus/key";

export type Peer = {
  readonly session: Session;
  /** As declared at initialize. */
  readonly capabilities: Json;
  announce: Call["announce"];
};

export function createPushedCall(params: Json, exchange: Exchange, { session, capabilities, announce }: Peer): Call {
  async function notify(method: string, given: Json): Promise<void> {
    await exchange.sendNotification({ method, params: given });
  }

  async function log(level: string, data: string): Promise<void> {
    if (session.logLevel !== undefined && isBelow(level, session.logLevel)) return;
    await notify("notifications/message", { level, logger: "fixture-2025", data });
  }

  // Asks whatever the client has declared, as servers on the official SDK do by default.
  async function pushQuestion(key: string, { method, params: asked }: Question): Promise<[string, Json]> {
    const task = params.taskId === undefined ? {} : { [RELATED]: { taskId: params.taskId } };
    const request = { method, params: { ...asked, _meta: { [KEY]: key, ...task } } };
    return [key, await exchange.sendRequest(request, ResultSchema)];
  }

  async function ask(questions: Readonly<Record<string, Question>>): Promise<Record<string, Json>> {
    const asked = Object.entries(questions).map(([key, question]) => pushQuestion(key, question));
    return Object.fromEntries(await Promise.all(asked));
  }

  const { signal } = exchange;
  return {
    params,
    capabilities,
    progressToken: exchange._meta?.progressToken,
    notify,
    log,
    ask,
    signal,
    startTask: () => ({ ask, signal }),
    announce,
    closeStream: () => exchange.closeSSEStream?.(),
  };
}
