/** Why a call, a read or a prompt has no answer. */
import { ERROR_KEY } from "../../contract/index.ts";
import { ArgumentFault } from "../arguments/typed-arguments.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf } from "../json.ts";
import { PROGRAM } from "../program-name.ts";
import { NoAnswer } from "./channel.ts";
import type { Connection } from "./connect.ts";
import { RpcFault } from "./mcp-client.ts";
import { serverOf } from "./offers.ts";

/** What was thrown, as an Ending where it is the other side's or the user's doing. */
export async function describeRefusal(name: string, error: unknown, connection: Asked): Promise<unknown> {
  if (error instanceof RpcFault) {
    const facts = { code: error.code, ...objectOf(objectOf(error.data)[ERROR_KEY]) };
    return await callFailed(name, error.message, facts, connection);
  }
  if (error instanceof ArgumentFault || error instanceof NoAnswer)
    return await callFailed(name, error.message, {}, connection);
  return error;
}

type Asked = Pick<Connection, "about"> & Partial<Pick<Connection, "place">>;

/** Whoever may not look at calls, or has asked a gateway that is gone with this verb, is not told to. */
export async function callFailed(
  name: string,
  message: string,
  { code, callId }: JsonObject,
  connection: Asked,
): Promise<Ending> {
  const mayTrace = typeof callId === "string" && (await connection.about()).role !== undefined;
  const traceable = mayTrace ? [`"${PROGRAM} trace ${callId}" shows how far the call came`] : [];
  if (code === "OUTCOME_UNKNOWN" && /^(?:exited with code|ended by) /.test(message)) {
    const server = serverOf(name, connection.place);
    const who = server === undefined ? "its server" : `the server ${server}`;
    const said = `${who} ended during the call (${message}); whether it acted is not known (${code})`;
    return new Ending("callFailed", [`${name}: ${said}`, ...traceable]);
  }
  // Many servers, and gateways before this one, write the code into their message.
  const isSaid = code === undefined || message.includes(String(code));
  return new Ending("callFailed", [`${name}: ${message}${isSaid ? "" : ` (${code})`}`, ...traceable]);
}
