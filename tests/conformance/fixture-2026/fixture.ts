/** The MCP server itself, without a transport: one request in, notifications and one response out. */
import { type Call, rpcError } from "../offers/call.ts";
import { isBelow } from "../offers/log-levels.ts";
import { type Method, methods } from "../offers/methods.ts";
import type { Json } from "../sdk.ts";
import { createAsk, InputRequired } from "./input.ts";
import { announce, listen } from "./listeners.ts";
import { describe, type Envelope, META, type Request, VERSION } from "./protocol.ts";
import { EXTENSION, isTask, takesTasks, taskMethods } from "./tasks.ts";

/** Where the messages of one request go. */
export type Stream = { send(message: Json): void; readonly signal: AbortSignal };

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true },
  completions: {},
  logging: {},
  extensions: { [EXTENSION]: {} },
};

const answers: Readonly<Record<string, Method>> = {
  ...methods,
  ...taskMethods,
  "server/discover": () => ({ supportedVersions: [VERSION], capabilities: CAPABILITIES }),
};

/** Results that a client may keep for a while. */
const CACHEABLE = /^(server\/discover|(tools|prompts|resources|resources\/templates)\/list|resources\/read)$/;

/** Answers everything but `subscriptions/listen`, which ends without a result. Never throws. */
export async function respond(request: Request, open: () => Envelope, stream: Stream): Promise<Json | undefined> {
  const { id, method } = request;
  try {
    const envelope = open();
    if (method === "subscriptions/listen") {
      return void (await listen(request, stream, (id) => takesTasks(envelope.capabilities) && isTask(id)));
    }
    const answer = answers[method];
    if (answer === undefined) throw rpcError(-32601, `Method not found: ${method}`);
    const result = await answer(createCall(request, envelope, stream));
    const cache = CACHEABLE.test(method) ? { ttlMs: 0, cacheScope: "private" } : {};
    return { jsonrpc: "2.0", id, result: complete({ resultType: "complete", ...result, ...cache }) };
  } catch (error) {
    if (!(error instanceof InputRequired)) return { jsonrpc: "2.0", id, error: describe(error) };
    return { jsonrpc: "2.0", id, result: complete({ resultType: "input_required", ...error.result }) };
  }
}

function complete(result: Json): Json {
  return { ...result, _meta: { [`${META}serverInfo`]: { name: "fixture-2026", version: "1.0.0" } } };
}

function createCall(request: Request, { capabilities, logLevel }: Envelope, stream: Stream): Call {
  const meta = request.params._meta as { progressToken?: string | number };

  async function notify(method: string, params: Json): Promise<void> {
    stream.send({ jsonrpc: "2.0", method, params });
  }

  const { signal } = stream;
  const ask = createAsk(request, capabilities);
  return {
    params: request.params,
    capabilities,
    progressToken: meta.progressToken,
    notify,
    async log(level, data) {
      if (logLevel === undefined || isBelow(level, logLevel)) return;
      await notify("notifications/message", { level, logger: "fixture-2026", data });
    },
    ask,
    signal,
    startTask: () => ({ ask, signal }),
    announce,
  };
}
