/**
 * Rules speak of names that depend on nothing but the server and its own name. Where two of these fall together, or names are
 * shown with underscores, lists show another one: whoever copies it from there would say something about nothing. So would
 * whoever makes a typing mistake.
 */
import { hasSegment, matchesPattern } from "../../contract/index.ts";
import type { AccessPolicy, Binding, Grant } from "./policy.ts";

/** How a primitive that is offered now is called: for rules, and in the list of everything. */
export type OfferedName = {
  readonly server: string;
  readonly name: string;
  readonly dotted: string;
  readonly shown: string;
};

/** A name that somebody has written to say something about what has it. */
export type NameUse = {
  readonly name: string;
  /** The server that was written beside it, by id or pattern; unset: the name tells. */
  readonly server?: string | undefined;
  /** Only the server's own name counts; otherwise the dotted one, and beside a server both. */
  readonly isOwn?: boolean;
};

/** A name that nothing has, and those that are meant: of what lists show by it, or none where no list has it. */
export type NameOfNothing = { readonly name: string; readonly server?: string; readonly meant: readonly string[] };

/** Which server has names that begin like this one; undefined: that cannot be told. */
export type ServerOf = (dotted: string) => string | undefined;

/** The names to write for what is shown by this one; empty where that is one itself, or is shown nowhere. */
export function namesMeant(use: NameUse, offered: readonly OfferedName[]): readonly string[] {
  const { name, server } = use;
  if (name === "" || name.includes("*")) return [];
  const own = server === undefined ? offered : offered.filter((one) => matchesPattern(server, one.server));
  if (own.some((one) => isCalled(one, use))) return [];
  const isById = server !== undefined && server !== "*";
  return [...new Set(own.filter((one) => isShown(one, use)).map((one) => (isById ? one.name : one.dotted)))];
}

/** Of several names, those that are about nothing, each once. What a server offers is known only while it is there. */
export function namesOfNothing(
  uses: readonly NameUse[],
  offered: readonly OfferedName[],
  serverOf: ServerOf,
): readonly NameOfNothing[] {
  const byServer = Map.groupBy(offered, ({ server }) => server);
  // Most names are right, and there may be thousands of them: what has one is not looked for in the list.
  const known = new Set(offered.flatMap((one) => [one.dotted, keyOf(one)]));
  const found = new Map<string, NameOfNothing>();
  for (const use of uses) {
    const { name, server } = use;
    if (name === "" || name.includes("*") || known.has(server === undefined ? name : keyOf(use))) continue;
    const place = server ?? serverOf(name);
    const among = (server !== undefined && byServer.get(server)) || offered;
    if (among.some((one) => matchesPattern(server ?? one.server, one.server) && isCalled(one, use))) continue;
    const meant = namesMeant(use, among);
    // A URI may be one that a template leads to.
    const isNowhere = place !== undefined && byServer.has(place) && !name.includes(":");
    if (meant.length > 0 || isNowhere) found.set(keyOf(use), { name, ...(server !== undefined && { server }), meant });
  }
  return [...found.values()];
}

/** Every name that a policy says something about. */
export function usesIn(
  policy: Pick<AccessPolicy, "grants" | "bindings" | "exposures" | "scopes" | "rules">,
): NameUse[] {
  const { grants, bindings, exposures, scopes, rules } = policy;
  return [
    ...grants.map(useOfGrant),
    ...bindings.map(useOfBinding),
    ...exposures.map(({ server, primitive: name }) => ({ server, name })),
    ...[...scopes, ...rules].map(({ match: name }) => ({ name })),
  ];
}

export function useOfGrant({ server, tool: name }: Pick<Grant, "server" | "tool">): NameUse {
  return { server, name, isOwn: true };
}

export function useOfBinding({ primitive: name }: Pick<Binding, "primitive">): NameUse {
  return { name };
}

export function keyOf({ server = "", name }: NameUse): string {
  return JSON.stringify([server, name]);
}

function isCalled({ name, dotted }: OfferedName, { name: written, server, isOwn }: NameUse): boolean {
  // What looks like the name of another server is its own only beside its server.
  const isItsOwn = isOwn === true || server !== undefined || !hasSegment(written);
  return (isItsOwn && name === written) || (!isOwn && dotted === written);
}

function isShown({ dotted, shown }: OfferedName, { name, server }: NameUse): boolean {
  if (shown === name || dotted === name) return true;
  const segment = dotted.slice(0, dotted.indexOf(".") + 1);
  if (server === undefined || segment === "") return false;
  return shown === segment + name || shown === `${segment.slice(0, -1)}__${name}`;
}
