/** `grant` and `revoke`: who may use what, in one line each. Kept in the database, beside what the config says. */

import { DEFAULT_TENANT } from "../../contract/index.ts";
import type { GatewayPlace } from "../../server/config/index.ts";
import { nearest } from "../../server/config/nearest.ts";
import { readDuration } from "../arguments/duration.ts";
import type { ConnectFlags } from "../client/gateway-url.ts";
import { serverOf } from "../client/offers.ts";
import { operate } from "../client/operate.ts";
import { Ending } from "../ending.ts";
import { objectOf } from "../json.ts";
import { readTokenName } from "../operator/token-name.ts";
import { print, printJson, say } from "../output/console.ts";
import { readGatewayPlace } from "../own-config.ts";
import { PROGRAM } from "../program-name.ts";

export type GrantOptions = ConnectFlags & {
  readonly server?: string;
  readonly deny?: boolean;
  readonly expires?: string;
  readonly reason?: string;
  readonly json?: boolean;
};

type Place = {
  readonly entry_type: "tool_grant" | "server_grant";
  readonly agent_id: string;
  readonly server_id: string;
  readonly tool_name: string | null;
};

/** Lets somebody use a tool, or all of a server; with --deny forbids it. */
export async function grant(name: string, what: string, options: GrantOptions): Promise<void> {
  const user = userOf(name);
  const place = placeOf("grant", user, what, options);
  const body = {
    ...place,
    permission: options.deny ? "deny" : "allow",
    justification: options.reason ?? "",
    ...(options.expires !== undefined && { expires_at: timeOf(options.expires) }),
  };
  const path = "/api/access/grant";
  const made = objectOf(
    await operate(
      { id: "access.grant", method: "POST", path, role: "admin", input: { body }, countsAtOnce: true },
      options,
    ),
  );
  if (options.json) return printJson(made);
  const until = options.expires === undefined ? "" : ` for ${options.expires}`;
  const isAll = options.deny && place.tool_name === null;
  const said = isAll ? `anything of ${place.server_id}` : described(place);
  print(`${user} ${options.deny ? "may not" : "may"} use ${said}${until}.`);
  if (made.isOffered === false) say(aboutNothing(place, options));
}

/** It is kept: a server may have other tools tomorrow. */
function aboutNothing({ server_id, tool_name }: Place, { deny }: GrantOptions): string {
  const sense = deny ? "until it has one this protects nothing" : "until it has one this allows nothing";
  return `${server_id} has no tool ${JSON.stringify(tool_name)} now, and ${sense}; "${PROGRAM} list" shows what there is, "${PROGRAM} revoke" takes it back`;
}

/** Takes a grant back; what the config says stays. */
export async function revoke(name: string, what: string, options: GrantOptions): Promise<void> {
  const user = userOf(name);
  const place = placeOf("revoke", user, what, options);
  const order = {
    id: "access.revoke",
    method: "POST",
    path: "/api/access/revoke",
    role: "admin",
    input: { body: place },
  } as const;
  const answer = objectOf(await operate({ ...order, countsAtOnce: true }, options));
  if (options.json) return printJson(answer);
  if (answer.revoked !== true) {
    throw new Ending("failure", [
      `nothing was granted to ${user} for ${described(place)} by a verb or over the API; "${PROGRAM} explain ${user} TOOL" says what decides about a tool`,
    ]);
  }
  print(`${user} has no grant for ${described(place)} any more.`);
}

function described({ server_id, tool_name }: Place): string {
  return tool_name === null ? `all of ${server_id}` : `${tool_name} of ${server_id}`;
}

/** Nobody has the name of a token for a user's: a grant of it would say yes and do nothing. */
function userOf(name: string): string {
  const token = readTokenName(name);
  if (!token && !/^(\*|[^*]+|[^*]+\.\*)$/.test(name)) {
    const expected = 'expected a name, "*" for everybody, or the beginning of names and ".*"';
    throw new Ending("usage", [`<user>: ${expected}, found ${JSON.stringify(name)}`]);
  }
  if (!token) return name;
  const { tenant, user } = token;
  if (tenant !== DEFAULT_TENANT) {
    const who = `${name} is a token of ${user} of ${tenant}`;
    throw new Ending("usage", [`${who}: an admin of ${tenant} grants it, to the user (${user})`]);
  }
  say(`${name} is a token of ${user}; grants are for users, so this is about ${user}, whatever token they show`);
  return user;
}

/** `what`: a server, or a tool as `list` shows it; with --server the tool's own name. */
function placeOf(verb: "grant" | "revoke", user: string, what: string, options: GrantOptions): Place {
  const place = namedPlace(user, what, options);
  if (!place.tool_name?.includes("*")) return place;
  const [whom, whole] = [user, place.server_id].map((word) => (/^[\w.@-]+$/.test(word) ? word : `'${word}'`));
  throw new Ending("usage", [`a tool's name takes no *: for all of it write "${PROGRAM} ${verb} ${whom} ${whole}"`]);
}

function namedPlace(user: string, what: string, { server, url, config: file }: GrantOptions): Place {
  const config = url === undefined ? readGatewayPlace(file === undefined ? {} : { config: file }) : undefined;
  if (server !== undefined) {
    requireKnown(server, config);
    return { entry_type: "tool_grant", agent_id: user, server_id: server, tool_name: what };
  }
  const id = config?.servers.some((one) => one.id === what) || !/[._]/.test(what) ? what : serverOf(what, config);
  if (id === undefined)
    throw new Ending("usage", [`${JSON.stringify(what)} is neither a server nor a tool as "${PROGRAM} list" shows it`]);
  requireKnown(id, config);
  if (id === what) return { entry_type: "server_grant", agent_id: user, server_id: id, tool_name: null };
  return { entry_type: "tool_grant", agent_id: user, server_id: id, tool_name: ownName(what, id, config) };
}

/** A grant for a server that is not there would say yes and do nothing. One that was added over the API is named with --url. */
function requireKnown(id: string, config: GatewayPlace | undefined): void {
  if (!config || id.includes("*") || config.servers.some((one) => one.id === id)) return;
  const ids = config.servers.map((one) => one.id);
  const meant = nearest(id, ids);
  const hint = meant === undefined ? `it has ${ids.join(", ") || "none"}` : `did you mean "${meant}"?`;
  throw new Ending("usage", [`the config has no server "${id}"; ${hint}`]);
}

function ownName(shown: string, id: string, config: GatewayPlace | undefined): string {
  const segment = config?.servers.find((one) => one.id === id)?.segment ?? id;
  const separator = config?.gateway.naming === "underscore" ? "__" : ".";
  return segment === "" ? shown : shown.slice(segment.length + separator.length);
}

function timeOf(duration: string): string {
  return new Date(Date.now() + readDuration("--expires", duration)).toISOString();
}
