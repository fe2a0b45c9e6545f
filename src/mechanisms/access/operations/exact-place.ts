/**
 * What is wrong with a place that stands for one server, or for one primitive, as in a block. A server that is away is right, and so is a
 * name that it does not have now: it may have it later. Whoever is of a tenant is told of what that one sees.
 */
import { type Principal, tenantOf } from "../../../contract/index.ts";
import type { BlockedPlace, PlaceFault } from "../../identity/revocation/index.ts";
import { misspelledName } from "../pattern-spelling.ts";
import { ANY } from "../policy.ts";
import { namesMeant } from "../shown-names.ts";
import type { AccessOperationParts } from "./parts.ts";
import { asMcp, isOpenName, isSeen, seenBy } from "./seen-by.ts";

export function placeFault(parts: AccessOperationParts, by: Principal, place: BlockedPlace): PlaceFault | undefined {
  return serverFault(parts, by, place) ?? primitiveFault(parts, by, place);
}

/** Whether there is such a primitive now; undefined: the place is none, or that cannot be told. */
export function isOfferedAt(parts: AccessOperationParts, by: Principal, place: BlockedPlace): boolean | undefined {
  const { server, primitive } = place;
  if (primitive === undefined) return undefined;
  const seen = seenAt(parts, by, server);
  if (seen.some(({ name, dotted }) => name === primitive || dotted === primitive)) return true;
  if (isOpenName(primitive)) return undefined;
  // A server that is hidden from them tells no more than one that is not there.
  const named = parts.targetOf(primitive)?.server;
  const at = server ?? (named !== undefined && isThere(parts, by, named) ? named : undefined);
  return seen.some((one) => at === undefined || one.server === at) ? false : undefined;
}

function seenAt(parts: AccessOperationParts, by: Principal, server: string | undefined) {
  return seenBy(parts, by).filter((one) => server === undefined || one.server === server);
}

function serverFault(parts: AccessOperationParts, by: Principal, place: BlockedPlace): PlaceFault | undefined {
  const { server, primitive } = place;
  if (server === undefined || isThere(parts, by, server)) return undefined;
  const fault = (message: string, more: Partial<PlaceFault> = {}) => ({ field: "server" as const, message, ...more });
  if (server === ANY) return fault("for all servers leave `server` out", { meant: { primitive } });
  if (server.includes(ANY)) return fault("a block is for one server: make one for each", { isPattern: true });
  const begun = serverOfNames(parts, by, server);
  if (begun === undefined) return fault("no server has this id; catalogs, and what names begin with, are none");
  const message = `this is what the names of the server ${JSON.stringify(begun)} begin with: write its id`;
  return fault(message, { meant: { server: begun, primitive } });
}

function primitiveFault(parts: AccessOperationParts, by: Principal, place: BlockedPlace): PlaceFault | undefined {
  const { server, primitive } = place;
  const seen = seenAt(parts, by, server);
  if (primitive === undefined || seen.some(({ name, dotted }) => name === primitive || dotted === primitive))
    return undefined;
  const fault = (message: string, more: Partial<PlaceFault> = {}) => ({
    field: "primitive" as const,
    message,
    ...more,
  });
  if (primitive === ANY) return fault("for all of a server leave `primitive` out", { meant: { server } });
  // A template may have one inside of its braces.
  if (primitive.replace(/\{[^{}]*\}/g, "").includes(ANY)) {
    const whole = wholeServer(parts, by, primitive);
    if (whole !== undefined && (server ?? whole) === whole)
      return fault(`for all of a server write ${JSON.stringify(whole)} as \`server\`, and no \`primitive\``, {
        meant: { server: whole },
      });
    return fault("a block is for one primitive: make one for each, or deny them by a binding", { isPattern: true });
  }
  const names = namesMeant({ name: primitive, ...(server !== undefined && { server }) }, seen);
  const [name] = names;
  if (name !== undefined)
    return fault(`lists show this, but it is called ${JSON.stringify(name)} here`, {
      ...(names.length === 1 && { meant: { server, primitive: name } }),
    });
  const misspelled = misspelledName(primitive);
  if (!misspelled) return undefined;
  const { reason, meant } = misspelled;
  const instead = meant === undefined ? "" : `; write ${JSON.stringify(meant)}`;
  return fault(`no URI is judged in this spelling: ${reason}${instead}`, {
    ...(meant !== undefined && { meant: { server, primitive: meant } }),
  });
}

/** The server that a pattern for all of its names is about. */
function wholeServer(parts: AccessOperationParts, by: Principal, pattern: string): string | undefined {
  const [, start] = /^([^*]+?)(?:\.|__)\*$/.exec(pattern) ?? [];
  if (start === undefined) return undefined;
  return serverOfNames(parts, by, start) ?? (isThere(parts, by, start) ? start : undefined);
}

/** The server whose names begin with this and a dot. */
function serverOfNames(parts: AccessOperationParts, by: Principal, start: string): string | undefined {
  const found = parts.targetOf(`${start}.x`);
  return found?.name === "x" && isThere(parts, by, found.server) ? found.server : undefined;
}

/** Whether there is a server of this id, as far as an operator may know. */
function isThere(parts: AccessOperationParts, by: Principal, server: string): boolean {
  if (tenantOf(by) === undefined) return parts.hasServer(server);
  const own = parts.primitives().filter((one) => one.server === server);
  if (own.length > 0) return own.some((one) => isSeen(parts, by, asMcp(one)));
  const dotted = parts.dottedOf({ provider: server, kind: "tool", name: "" });
  return parts.hasServer(server) && isSeen(parts, by, asMcp({ server, kind: "tool", name: "", dotted, shown: "" }));
}
