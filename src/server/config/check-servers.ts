/** What must hold among servers. Looks at the raw tables, so that it can speak even when one of them has other faults. */
import { RESERVED_CATALOG_IDS, segmentOf } from "../../contract/index.ts";

export type RawServer = Readonly<Record<string, unknown>>;

/** The segment of a server: its `prefix`, else its id with other characters mapped. */
export function segmentFor(server: { readonly id: string; readonly prefix?: string | undefined }): string {
  return server.prefix ?? segmentOf(server.id);
}

export function checkServers(servers: readonly RawServer[]): string[] {
  const ids = new Set<string>();
  const bySegment = new Map<string, string>();
  const problems: string[] = [];
  for (const { id, prefix } of servers) {
    if (typeof id !== "string" || id === "") continue;
    if (ids.has(id)) {
      problems.push(`servers.${id}.id: expected each id once, found ${JSON.stringify(id)} again`);
      continue;
    }
    ids.add(id);
    if (RESERVED_CATALOG_IDS.includes(id)) {
      problems.push(`servers.${id}.id: expected an id that is no path of the gateway, found ${JSON.stringify(id)}`);
    }
    const segment = segmentFor({ id, prefix: typeof prefix === "string" ? prefix : undefined });
    const other = bySegment.get(segment);
    if (other === undefined) bySegment.set(segment, id);
    else problems.push(clash(id, other, segment));
  }
  return problems;
}

function clash(id: string, other: string, segment: string): string {
  const path = `servers.${id}.prefix`;
  if (segment === "")
    return `${path}: expected at most one server with an empty prefix, found "" at servers.${other} too`;
  return `${path}: expected a prefix of its own, found ${JSON.stringify(segment)}, which servers.${other} has`;
}
