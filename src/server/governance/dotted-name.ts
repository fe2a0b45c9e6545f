import { hasSegment, joinName, segmentOf, type Target } from "../../contract/index.ts";
import type { Config } from "../config/index.ts";

type Named = Pick<Config, "servers">;

/**
 * The name that rules, bindings and limits have for it. URIs are not made to look like names. What a server without a prefix calls
 * like something of another stands behind its id: what is said about that one is not about this.
 */
export function dottedName(config: Named, { provider, kind, name }: Target): string {
  const server = config.servers.find(({ id }) => id === provider);
  if (server?.segment === "") {
    return hasSegment(name) ? `${stemOf(server)}.${name}` : name;
  }
  const segment = server?.segment ?? provider;
  return kind === "tool" || kind === "prompt" ? joinName(segment, name) : `${segment}.${name}`;
}

/** What stands before names of a server in rules. Also where it is alone: no server that is added later takes a name from a rule. */
export function stemOf({ id, segment }: Pick<Config["servers"][number], "id" | "segment">): string {
  return segment === "" ? segmentOf(id) : segment;
}

/** The server that names like this one are for, by what stands before them; undefined: that does not tell. */
export function serverByStem(config: Named, dotted: string): Config["servers"][number] | undefined {
  return config.servers.find((server) => dotted.startsWith(`${stemOf(server)}.`));
}

/** The server without a prefix; undefined: there is none. */
export function unprefixedServer(config: Named): { readonly id: string; readonly stem: string } | undefined {
  const server = config.servers.find(({ segment }) => segment === "");
  return server && { id: server.id, stem: stemOf(server) };
}

/** How they are written in rules, for people. */
export function unprefixedNames({ stem }: { readonly stem: string }): string {
  return `those with a dot, as "a.b", are written "${stem}.a.b"`;
}
