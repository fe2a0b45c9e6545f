/** Tables beside those of the files. */

export type AddedTables = { readonly servers: readonly Tabled[]; readonly catalogs: readonly Tabled[] };
type Tabled = { readonly id: string };

/** Where a file has a table of the same id, the file's counts. */
export function withAdded(table: Readonly<Record<string, unknown>>, added: AddedTables): Record<string, unknown> {
  if (added.servers.length === 0 && added.catalogs.length === 0) return { ...table };
  const { servers, catalogs } = table;
  return { ...table, servers: joined(servers, added.servers), catalogs: joined(catalogs, added.catalogs) };
}

/** Something else in the place of a list stays, so that the schema speaks about it. */
function joined(written: unknown = [], added: readonly Tabled[]): unknown {
  if (!Array.isArray(written)) return written;
  const ids = new Set(written.map((table: { readonly id?: unknown } | null) => table?.id));
  return [...written, ...added.filter(({ id }) => !ids.has(id))];
}
