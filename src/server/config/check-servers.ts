/** What must hold among servers. Looks at the raw tables, so that it can speak even when one of them has other faults. */
import { RESERVED_CATALOG_IDS, segmentOf } from "../../contract/index.ts";
import type { Problem } from "./problem.ts";

export type RawServer = Readonly<Record<string, unknown>>;

/** The segment of a server: its `prefix`, else its id with other characters mapped. */
export function segmentFor(server: { readonly id: string; readonly prefix?: string | undefined }): string {
  return server.prefix ?? segmentOf(server.id);
}

export function checkServers(servers: readonly RawServer[]): Problem[] {
  const ids = new Set<string>();
  const bySegment = new Map<string, string>();
  const problems: Problem[] = [];
  for (const [index, { id, prefix }] of servers.entries()) {
    if (typeof id !== "string" || id === "") continue;
    const complain = (key: string, text: string) => problems.push({ path: ["servers", index, key], text });
    if (ids.has(id)) {
      complain("id", `expected each id once, found ${JSON.stringify(id)} again`);
      continue;
    }
    ids.add(id);
    if (RESERVED_CATALOG_IDS.includes(id)) {
      complain("id", `expected an id that is no path of the gateway, found ${JSON.stringify(id)}`);
    }
    const segment = segmentFor({ id, prefix: typeof prefix === "string" ? prefix : undefined });
    const other = bySegment.get(segment);
    if (other === undefined) bySegment.set(segment, id);
    else complain("prefix", describeClash(other, segment));
  }
  return [...problems, ...checkStem(servers, bySegment)];
}

/** The id of the server without a prefix stands before some of its names in rules: no other's names may begin like that. */
function checkStem(servers: readonly RawServer[], bySegment: ReadonlyMap<string, string>): Problem[] {
  const bare = bySegment.get("");
  const other = bare !== undefined && bySegment.get(segmentOf(bare));
  if (!other) return [];
  const found = `found ${JSON.stringify(bare)}, which is the prefix of servers.${other}`;
  const text = `expected an id that is no prefix beside an empty prefix, ${found}`;
  return [{ path: ["servers", servers.findIndex(({ id }) => id === bare), "id"], text }];
}

/** What stands before names in rules: the segments, and beside them the id of the one server that has none. */
export function stemsOf(segments: ReadonlyMap<string, string>): readonly string[] {
  const bare = [...segments].filter(([, segment]) => segment === "");
  return [...segments.values(), ...bare.map(([id]) => segmentOf(id))];
}

function describeClash(other: string, segment: string): string {
  if (segment === "") return `expected at most one server with an empty prefix, found "" at servers.${other} too`;
  return `expected a prefix of its own, found ${JSON.stringify(segment)}, which servers.${other} has`;
}
