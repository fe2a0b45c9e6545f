/** Why a call, a read or a prompt has no answer. */
import { ERROR_KEY } from "../../contract/index.ts";
import { ArgumentFault } from "../arguments/typed-arguments.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf } from "../json.ts";
import { PROGRAM } from "../program-name.ts";
import { NoAnswer } from "./channel.ts";
import { RpcFault } from "./mcp-client.ts";

/** What was thrown, as an Ending where it is the other side's or the user's doing. */
export function describeRefusal(name: string, error: unknown): unknown {
  if (error instanceof RpcFault)
    return callFailed(name, error.message, { code: error.code, ...objectOf(objectOf(error.data)[ERROR_KEY]) });
  if (error instanceof ArgumentFault || error instanceof NoAnswer) return callFailed(name, error.message, {});
  return error;
}

export function callFailed(name: string, message: string, { code, callId }: JsonObject): Ending {
  const traceable = typeof callId === "string" ? [`"${PROGRAM} trace ${callId}" shows how far the call came`] : [];
  // Many servers, and gateways before this one, write the code into their message.
  const isSaid = code === undefined || message.includes(String(code));
  return new Ending("callFailed", [`${name}: ${message}${isSaid ? "" : ` (${code})`}`, ...traceable]);
}
