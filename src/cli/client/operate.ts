/**
 * Does operations: at the gateway that was named, else at the one that runs with the config; and where none does on the stores of
 * the config, as the local user. What runs may hold something else than the stores: it began before its config, or keeps nothing.
 */
import { GatewayError, type Role } from "../../contract/index.ts";
import type { GatewayPlace, ObtainedConfig } from "../../server/config/index.ts";
import { createGateway } from "../../server/gateway.ts";
import { createLog } from "../../server/log.ts";
import { type GatewayState, openState, StateFault } from "../../server/state/index.ts";
import { Ending } from "../ending.ts";
import type { JsonObject } from "../json.ts";
import { movedGateway, movedLine } from "../operator/moved-gateway.ts";
import { aboutGateway, otherConfigLine, refuseOtherConfig, sayOtherConfig } from "../operator/other-config.ts";
import { isOwnGateway, lookAsOperator, sendAsOperator } from "../operator/send-as-operator.ts";
import { say, sayText } from "../output/console.ts";
import { readGatewayPlace, readOwnConfig, sayProblems } from "../own-config.ts";
import { NoAnswer } from "./channel.ts";
import { type ConnectFlags, configuredUrl, gatewayUrl, parseGatewayUrl } from "./gateway-url.ts";
import { jsonOf } from "./http-get.ts";
import { httpSend } from "./http-send.ts";
import { nobodyThere } from "./nobody-there.ts";
import { isProblem, problemsIn, reasonIn, refusalOf } from "./refusal.ts";

export type OperationOrder = {
  readonly id: string;
  readonly method: string;
  /** With its parameters filled in. */
  readonly path: string;
  /** The same as an object, as the operation takes it. */
  readonly input: { readonly body?: unknown } & Readonly<Record<string, unknown>>;
  /** What a token must have for it; unset: any will do. */
  readonly role?: Role;
  /** How long a gateway may take for it; by default a few seconds. */
  readonly timeoutMs?: number;
  /** What to say where the gateway has no such operation, or nothing of this name. */
  readonly missing?: readonly string[];
  /** It is about what callers may do at once: where no gateway has heard of it, that is said. */
  readonly countsAtOnce?: boolean;
};

/** For operations that come one after the other: what they need is opened once. */
export type Operator = {
  /** Resolves with the body of the answer. Throws Ending. */
  operate(order: OperationOrder): Promise<unknown>;
  close(): Promise<void>;
};

export type OperatorFlags = ConnectFlags & {
  /**
   * Where the gateway that the config leads to runs with another one: say so, or use the stores of this config. Nothing is changed
   * there either way; unset: what only looks says nothing.
   */
  readonly besideAnother?: "say" | "stores";
};

/** Does one. Resolves with the body of the answer. Throws Ending. */
export async function operate(order: OperationOrder, flags: OperatorFlags): Promise<unknown> {
  const operator = await openOperator(flags);
  try {
    return await operator.operate(order);
  } finally {
    await operator.close();
  }
}

/** Does one at a gateway that runs: what it is about lives only there. Throws Ending. */
export async function operateRunning(order: Omit<OperationOrder, "id">, flags: ConnectFlags): Promise<unknown> {
  if (order.method !== "GET") await refuseElsewhere(flags);
  return await operateAt(gatewayUrl(flags), order, { flags });
}

/** Of a gateway that was named nothing is expected. */
function placeOf({ url, config }: ConnectFlags): Pick<GatewayPlace, "files"> {
  return url === undefined ? readGatewayPlace(config === undefined ? {} : { config }) : {};
}

/** Before a verb changes something at a gateway that runs. Throws Ending where that one has another config. */
export async function refuseElsewhere(flags: ConnectFlags): Promise<void> {
  const url = gatewayUrl(flags);
  refuseOtherConfig(url, await aboutGateway(url), placeOf(flags));
}

/** The same for a verb that only looks. */
export async function sayElsewhere(flags: ConnectFlags): Promise<void> {
  const url = gatewayUrl(flags);
  sayOtherConfig(url, await aboutGateway(url), placeOf(flags));
}

/** Throws Ending. */
export async function openOperator({ url, config: file, besideAnother }: OperatorFlags): Promise<Operator> {
  if (url !== undefined) return operatorAt(parseGatewayUrl(url), {}, { flags: { url } });
  const flags = file === undefined ? {} : { config: file };
  const place = readGatewayPlace(flags);
  const own = configuredUrl(place);
  const goOn = (found: URL) => {
    sayProblems(place, found);
    return operatorAt(found, place, { flags });
  };
  let other: string | undefined;
  if (own && (await isOwnGateway(own))) {
    other = besideAnother && otherConfigLine(own, await aboutGateway(own), place);
    if (besideAnother !== "stores" || other === undefined) {
      if (other !== undefined) say(other);
      return goOn(own);
    }
  }
  try {
    return await operatorOn(readOwnConfig(flags), flags, other);
  } catch (error) {
    if (!(error instanceof Ending) || error.exit !== "config") throw error;
    // Whoever started the gateway could read its config; that its secrets are not known in this shell is nothing to it.
    if (other === undefined && own && (await isGateway(own))) return goOn(own);
    throw error;
  }
}

const PROBE_MS = 2_000;

/** Whether a gateway answers there, whoever asks. */
export async function isGateway(url: URL): Promise<boolean> {
  try {
    const order = { method: "GET", url: new URL("/healthz", url), timeoutMs: PROBE_MS, isAnonymous: true };
    return (await httpSend(order)).status === 200;
  } catch (error) {
    if (error instanceof NoAnswer) return false;
    throw error;
  }
}

/** `other`: that the gateway which answers there is not the one of this config, in one line. */
async function operatorOn({ config, env }: ObtainedConfig, flags: ConnectFlags, other?: string): Promise<Operator> {
  const log = createLog({ level: "error", format: "pretty", write: sayText });
  let state: GatewayState | undefined;
  try {
    state = await openState(config.state, log);
  } catch (error) {
    if (!(error instanceof StateFault)) throw error;
    const running = configuredUrl(config);
    if (!running || other !== undefined) throw new Ending("store", [...(other ? [other] : []), error.message]);
    return operatorAt(running, {}, { flags, why: error.message });
  }
  if (!state) {
    const nowhere = "the config names no database, so nothing can be kept; name a gateway with --url";
    throw new Ending("usage", [...(other ? [other] : []), nowhere]);
  }
  if (other !== undefined) say(`${other}: the database of this config is used`);
  const gateway = createGateway(config, { log, env, state });
  return {
    async operate({ id, input, missing, countsAtOnce }) {
      try {
        const answer = await gateway.operate(id, input);
        if (countsAtOnce) say(onlyWritten(configuredUrl(config)));
        return answer;
      } catch (error) {
        if (!GatewayError.is(error)) throw error;
        if (missing && error.code === "NO_SUCH_TARGET") throw new Ending("failure", missing);
        throw new Ending(error.code === "STATE_UNAVAILABLE" ? "store" : "failure", [error.message]);
      }
    },
    close: () => gateway.close(),
  };
}

function onlyWritten(url: URL | undefined): string {
  const where = url ? ` at ${url.origin}` : "";
  return `no gateway of yours answers${where}: this was written to the database of the config, for whichever uses it`;
}

type Reason = {
  /** By which the gateway was found. */
  readonly flags: ConnectFlags;
  /** Why nobody but that gateway can do it. */
  readonly why?: string;
};

/** `place`: by which it was found. */
function operatorAt(gateway: URL, place: Pick<GatewayPlace, "files">, reason: Reason): Operator {
  return {
    async operate(order) {
      if (order.method === "GET") return await operateAt(gateway, order, reason);
      const about = await aboutGateway(gateway);
      refuseOtherConfig(gateway, about, place);
      const answer = await operateAt(gateway, order, reason);
      sayHowLong(about);
      return answer;
    },
    close: () => Promise.resolve(),
  };
}

/** What was changed in a gateway that began before its config is gone with it, which nobody expects of a denial. */
function sayHowLong({ kept }: JsonObject): void {
  if (kept === "restart") say("the gateway keeps nothing yet: this ends with it. Restart it, and do it again");
}

async function operateAt(gateway: URL, order: Omit<OperationOrder, "id">, { flags, why }: Reason): Promise<unknown> {
  const { method, path, input, timeoutMs, missing } = order;
  const url = new URL(path, gateway);
  const body = input.body !== undefined && { body: input.body };
  // To be on this machine is enough to look, and not to change anything.
  const send = method === "GET" ? lookAsOperator : sendAsOperator;
  const answer = await send({ method, url, ...body, ...(timeoutMs !== undefined && { timeoutMs }) }).catch(
    async (error: unknown) => {
      if (!(error instanceof NoAnswer)) throw error;
      if (why === undefined) throw await nobodyThere(url, error, flags);
      throw new Ending("store", [why, ...movedLine(await movedGateway(flags.config))]);
    },
  );
  if (answer.status >= 200 && answer.status < 300) return answer.text === "" ? undefined : jsonOf(answer);
  const refusal = refusalOf(url, answer, order.role);
  if (refusal) throw answer.status === 401 && why !== undefined ? unknownHere(refusal) : refusal;
  if (!isProblem(answer.text)) {
    const said = reasonIn(answer.text);
    const how = `${url.href} answered HTTP ${answer.status}${said === undefined ? "" : ` (${said})`}`;
    throw new Ending("unreachable", [`${how}; is another program there?`]);
  }
  if (missing && answer.status === 404) throw new Ending("failure", missing);
  const problems = problemsIn(answer.text);
  if (problems.length > 0) throw new Ending("failure", problems);
  throw new Ending("failure", [reasonIn(answer.text) ?? `${url.href} answered HTTP ${answer.status}`]);
}

/** Its stores are here, and only it may use them while it runs; but it does not know whoever is here. */
function unknownHere({ exit, lines: [first = "", ...more] }: Ending): Ending {
  const way = "without one: stop that gateway, do this again, which is then done in its database, and start it";
  return new Ending(exit, [first, ...more, way]);
}
