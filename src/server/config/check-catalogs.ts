/** What must hold among catalogs and servers. A table that is wrong by itself is left to the schema. */

import { matchesPattern, patternReaches, RESERVED_CATALOG_IDS } from "../../contract/index.ts";
import { type CatalogConfig, catalogSchema } from "./catalog-config.ts";
import { type RawServer, segmentFor } from "./check-servers.ts";
import { nearest } from "./nearest.ts";
import type { Problem } from "./problem.ts";
import { READ_ONCE } from "./read-once.ts";
import { serverSchema } from "./server-config.ts";
import type { KeyPath } from "./toml-lines.ts";

/** Segments by id. */
type Servers = ReadonlyMap<string, string>;

export function checkCatalogs(catalogs: unknown, rawServers: readonly RawServer[]): Problem[] {
  const servers = serversOf(rawServers);
  const ids = new Set<string>();
  const tables: readonly unknown[] = Array.isArray(catalogs) ? catalogs : [];
  return tables.flatMap((raw, index) => {
    const parsed = catalogSchema.safeParse(raw, READ_ONCE);
    if (!parsed.success) return [];
    const { id } = parsed.data;
    const problems = checkId(id, ids, servers).map((text) => ({ path: ["catalogs", index, "id"], text }));
    ids.add(id);
    return [...problems, ...checkTable(parsed.data, ["catalogs", index], servers)];
  });
}

/** Segments of the servers whose ids can be read. */
export function serversOf(rawServers: readonly RawServer[]): Servers {
  const named = rawServers.flatMap((raw) => {
    const id = serverSchema.shape.id.safeParse(raw?.id);
    const prefix = serverSchema.shape.prefix.safeParse(raw?.prefix);
    return id.success ? [{ id: id.data, prefix: prefix.data }] : [];
  });
  return new Map(named.map((server) => [server.id, segmentFor(server)]));
}

/** Of the catalogs whose ids can be read, whatever else is wrong with them. */
export function catalogIdsOf(catalogs: unknown): readonly string[] {
  const tables: readonly RawServer[] = Array.isArray(catalogs) ? catalogs : [];
  return tables.flatMap((raw) => (typeof raw?.id === "string" ? [raw.id] : []));
}

function checkId(id: string, ids: ReadonlySet<string>, servers: Servers): string[] {
  const found = `found ${JSON.stringify(id)}`;
  if (ids.has(id)) return [`expected each id once, ${found} again`];
  if (RESERVED_CATALOG_IDS.includes(id)) return [`expected an id that is no path of the gateway, ${found}`];
  return servers.has(id) ? [`expected an id that no server has, ${found}, which is served already`] : [];
}

function checkTable(catalog: CatalogConfig, path: KeyPath, servers: Servers): Problem[] {
  const { include, exclude, rename, descriptions } = catalog;
  const inList = (key: "include" | "exclude") =>
    catalog[key].flatMap((pattern, place) => {
      return checkPattern(pattern, servers).map((text) => ({ path: [...path, key, place], text }));
    });
  const inTable = (key: "rename" | "descriptions") =>
    Object.keys(catalog[key]).flatMap((name) => {
      return checkName(name, { include, exclude }, servers).map((text) => ({ path: [...path, key, name], text }));
    });
  const problems: Problem[] = [...inList("include"), ...inList("exclude")];
  if (Object.keys(rename).length + Object.keys(descriptions).length > 0 && problems.length === 0) {
    problems.push(...inTable("rename"), ...inTable("descriptions"), ...checkClashes(rename, path));
  }
  return problems;
}

/** What is wrong with a pattern over dotted names: no server can have one like it. */
export function checkPattern(pattern: string, servers: Servers): string[] {
  if ([...servers.values()].some((segment) => patternReaches(pattern, segment))) return [];
  const expected = "expected SERVER.NAME of a server in this file";
  return [`${expected}, found ${JSON.stringify(pattern)}${suggestion(pattern, servers)}`];
}

function suggestion(pattern: string, servers: Servers): string {
  const segments = [...servers.values()].filter((segment) => segment !== "");
  const dot = pattern.indexOf(".");
  const meant = nearest(dot < 0 ? pattern : pattern.slice(0, dot), segments);
  if (meant !== undefined) return didYouMean(meant + (dot < 0 ? ".*" : pattern.slice(dot)));
  const [id, segment] = [...servers].find(([one]) => pattern.startsWith(`${one}.`)) ?? [];
  if (id !== undefined) return didYouMean(`${segment}${segment === "" ? "" : "."}${pattern.slice(id.length + 1)}`);
  return segments.length === 0 ? "" : `; the servers are ${segments.join(", ")}`;
}

function didYouMean(pattern: string): string {
  return `, did you mean ${JSON.stringify(pattern)}?`;
}

function checkName(name: string, { include, exclude }: Pick<CatalogConfig, "include" | "exclude">, servers: Servers) {
  const shown = JSON.stringify(name);
  if (name.includes("*")) return [`expected the full name of one tool or prompt, found ${shown}`];
  const unknown = checkPattern(name, servers);
  if (unknown.length > 0) return unknown;
  const matches = (pattern: string) => matchesPattern(pattern, name);
  if (include.some(matches) && !exclude.some(matches)) return [];
  return [`expected a name that this catalog includes, found ${shown}`];
}

function checkClashes(rename: CatalogConfig["rename"], path: KeyPath): Problem[] {
  const owners = new Map<string, string>();
  const problems: Problem[] = [];
  for (const [from, to] of Object.entries(rename)) {
    const other = owners.get(to);
    if (other === undefined) owners.set(to, from);
    else {
      const text = `expected a name of its own, found ${JSON.stringify(to)}, which ${JSON.stringify(other)} gets too`;
      problems.push({ path: [...path, "rename", from], text });
    }
  }
  return problems;
}
