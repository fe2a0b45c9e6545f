/**
 * Does operations: at the gateway that was named; else on the stores of the config, as the local user; and at the gateway that
 * runs with that config where it alone may use them.
 */
import { GatewayError } from "../../contract/index.ts";
import { createGateway } from "../../server/gateway.ts";
import { createLog } from "../../server/log.ts";
import { type GatewayState, openState, StateFault } from "../../server/state/index.ts";
import { Ending } from "../ending.ts";
import { objectOf, textOf } from "../json.ts";
import { readOwnConfig } from "../own-config.ts";
import { NoAnswer } from "./channel.ts";
import type { ConnectFlags } from "./connect.ts";
import { configuredUrl, parseGatewayUrl } from "./gateway-url.ts";
import { jsonOf } from "./http-get.ts";
import { httpSend } from "./http-send.ts";

export type OperationOrder = {
  readonly id: string;
  readonly method: string;
  /** With its parameters filled in. */
  readonly path: string;
  /** The same as an object, as the operation takes it. */
  readonly input: { readonly body?: unknown } & Readonly<Record<string, unknown>>;
  /** How long a gateway may take for it; by default a few seconds. */
  readonly timeoutMs?: number;
};

/** For operations that come one after the other: what they need is opened once. */
export type Operator = {
  /** Resolves with the body of the answer. Throws Ending. */
  operate(order: OperationOrder): Promise<unknown>;
  close(): Promise<void>;
};

/** Does one. Resolves with the body of the answer. Throws Ending. */
export async function operate(order: OperationOrder, flags: ConnectFlags): Promise<unknown> {
  const operator = await openOperator(flags);
  try {
    return await operator.operate(order);
  } finally {
    await operator.close();
  }
}

/** Throws Ending. */
export async function openOperator({ url, config: file }: ConnectFlags): Promise<Operator> {
  if (url !== undefined) return operatorAt(parseGatewayUrl(url));
  const { config, env } = readOwnConfig(file === undefined ? {} : { config: file });
  const log = createLog({ level: "error", format: "pretty", write: (text) => process.stderr.write(text) });
  let state: GatewayState | undefined;
  try {
    state = await openState(config.state, log);
  } catch (error) {
    if (!(error instanceof StateFault)) throw error;
    const running = configuredUrl(config);
    if (!running) throw new Ending("store", [error.message]);
    return operatorAt(running, error.message);
  }
  if (!state)
    throw new Ending("usage", ["the config names no database, so nothing can be kept; name a gateway with --url"]);
  const gateway = createGateway(config, { log, env, state });
  return {
    async operate({ id, input }) {
      try {
        return await gateway.operate(id, input);
      } catch (error) {
        if (!GatewayError.is(error)) throw error;
        throw new Ending(error.code === "STATE_UNAVAILABLE" ? "store" : "failure", [error.message]);
      }
    },
    close: () => gateway.close(),
  };
}

/** `why`: why nobody but that gateway can do it. */
function operatorAt(gateway: URL, why?: string): Operator {
  return { operate: (order) => operateAt(gateway, order, why), close: () => Promise.resolve() };
}

async function operateAt(gateway: URL, order: OperationOrder, why?: string): Promise<unknown> {
  const { method, path, input, timeoutMs } = order;
  const url = new URL(path, gateway);
  const body = input.body !== undefined && { body: input.body };
  const answer = await httpSend({ method, url, ...body, ...(timeoutMs !== undefined && { timeoutMs }) }).catch(
    (error: unknown) => {
      if (!(error instanceof NoAnswer)) throw error;
      throw new Ending(why === undefined ? "unreachable" : "store", [
        why ?? `no gateway answers at ${url.origin} (${error.message})`,
      ]);
    },
  );
  if (answer.status >= 200 && answer.status < 300) return answer.text === "" ? undefined : jsonOf(answer);
  if (answer.status === 401) {
    throw new Ending("unreachable", [
      `${url.origin} asks who you are; put a token with the role admin into ISTHMUS_TOKEN`,
    ]);
  }
  const { detail, title } = objectOf(jsonOf(answer));
  throw new Ending("failure", [textOf(detail) ?? textOf(title) ?? `${url.href} answered HTTP ${answer.status}`]);
}
