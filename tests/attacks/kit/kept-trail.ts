/** The tables of an audit trail, in the hands of somebody who has the database and no key. */
import Sqlite from "better-sqlite3";
import pg from "pg";

type Row = Record<string, unknown>;
export type Tables = {
  query(text: string): Promise<readonly Row[]>;
  close(): Promise<void>;
};

export async function openTables(place: { readonly file: string } | { readonly url: string }): Promise<Tables> {
  if ("file" in place) {
    const database = new Sqlite(place.file);
    return {
      async query(text) {
        const statement = database.prepare(text);
        if (statement.reader) return statement.all() as Row[];
        statement.run();
        return [];
      },
      async close() {
        database.close();
      },
    };
  }
  const client = new pg.Client({ connectionString: place.url });
  await client.connect();
  return { query: async (text) => (await client.query(text)).rows as Row[], close: () => client.end() };
}

/** As good as it can be done: what is left fits together, and is signed. 0: nothing is left. */
export async function cutBackTo(tables: Tables, checkpoint: number): Promise<void> {
  await tables.query(`delete from audit_checkpoints where number > ${checkpoint}`);
  const last = new Map<string, number>();
  for (const { text } of await tables.query("select text from audit_checkpoints order by number")) {
    const { heads } = JSON.parse(String(text)) as { heads: { writer: string; block: number }[] };
    for (const { writer, block } of heads) last.set(writer, block);
  }
  for (const { writer } of await tables.query("select distinct writer from audit_blocks")) {
    const block = last.get(String(writer)) ?? -1;
    await tables.query(`delete from audit_blocks where writer = '${writer}' and number > ${block}`);
    await tables.query(
      block < 0
        ? `delete from audit_heads where writer = '${writer}'`
        : `update audit_heads set number = ${block}, covered = 1, hash = (select hash from audit_blocks b where b.writer = '${writer}' and b.number = ${block}), spooled = (select spooled from audit_blocks b where b.writer = '${writer}' and b.number = ${block}) where writer = '${writer}'`,
    );
  }
}

export async function newestCheckpoint(tables: Tables): Promise<number> {
  const [row] = await tables.query("select max(number) as newest from audit_checkpoints");
  return Number(row?.newest ?? 0);
}
