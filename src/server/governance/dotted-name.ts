import { hasSegment, joinName, segmentOf, type Target } from "../../contract/index.ts";
import type { Config } from "../config/index.ts";

type Named = Pick<Config, "servers" | "disabled">;

/**
 * The name that rules, bindings and limits have for it. URIs are not made to look like names. What a server without a prefix calls
 * like something of another stands behind its id: what is said about that one is not about this.
 */
export function dottedName(config: Named, { provider, kind, name }: Target): string {
  const server = config.servers.find(({ id }) => id === provider);
  if (server?.segment === "") {
    const stem = stemOf(config, server);
    return stem !== "" && hasSegment(name) ? `${stem}.${name}` : name;
  }
  const segment = server?.segment ?? provider;
  return kind === "tool" || kind === "prompt" ? joinName(segment, name) : `${segment}.${name}`;
}

/** What stands before names of a server in rules; "" for the only one in the file where it has no prefix. */
export function stemOf(
  { servers, disabled }: Named,
  { id, segment }: Pick<Config["servers"][number], "id" | "segment">,
): string {
  if (segment !== "") return segment;
  // One that is left out for a while may come back, with all that is said about it.
  return servers.length + disabled.length === 1 ? "" : segmentOf(id);
}

/** The server that names like this one are for, by what stands before them; undefined: that does not tell. */
export function serverByStem(config: Named, dotted: string): Config["servers"][number] | undefined {
  return config.servers.find((server) => {
    const stem = stemOf(config, server);
    return stem !== "" && dotted.startsWith(`${stem}.`);
  });
}

/** The server without a prefix among others; undefined: there is none. */
export function unprefixedServer(config: Named): { readonly id: string; readonly stem: string } | undefined {
  const server = config.servers.find(({ segment }) => segment === "");
  const stem = server && stemOf(config, server);
  return server && stem ? { id: server.id, stem } : undefined;
}

/** How they are written in rules, for people. */
export function unprefixedNames({ stem }: { readonly stem: string }): string {
  return `those with a dot, as "a.b", are written "${stem}.a.b"`;
}
