import { type Selectable, sql } from "kysely";
import type { Policy, PolicyChange, PolicyEntry, PolicyRows } from "../../contract/index.ts";
import type { PolicyTable } from "../migrations/index.ts";
import { type ChangeStatement, statement } from "./change-statement.ts";
import { refuseNul, type SqlEngine } from "./sql-engine.ts";

export class SqlPolicyRows implements PolicyRows {
  readonly #engine: SqlEngine;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  /** The version first: entries that are newer than it only make the next look come too early. */
  async load(): Promise<Policy> {
    const version = await this.version();
    const found = await this.#engine.run(() =>
      this.#engine.database.selectFrom("policy").selectAll().orderBy("tenant").orderBy("kind").orderBy("key").execute(),
    );
    return { version, entries: found.map(entryOf) };
  }

  async version(): Promise<number> {
    const found = await this.#engine.run(() =>
      this.#engine.database.selectFrom("policy_version").select("version").executeTakeFirst(),
    );
    return found?.version ?? 0;
  }
}

/** A new version, and the entry. */
export function policyStatements({ database }: SqlEngine, change: PolicyChange): readonly ChangeStatement[] {
  const { ifVersion } = change;
  const grown = database.updateTable("policy_version").set({ version: sql<number>`version + 1` });
  const version = statement(ifVersion === undefined ? grown : grown.where("version", "=", ifVersion), true);
  if (change.type === "remove") {
    const { tenant, kind, key } = change;
    const gone = database.deleteFrom("policy").where("tenant", "=", tenant).where("kind", "=", kind);
    return [version, statement(gone.where("key", "=", key), true)];
  }
  const { entry } = change;
  refuseNul(entry);
  const { tenant, kind, key, ...rest } = columnsOf(entry);
  const put = database
    .insertInto("policy")
    .values({ tenant, kind, key, ...rest })
    .onConflict((conflict) => conflict.columns(["tenant", "kind", "key"]).doUpdateSet(rest));
  return [version, statement(put)];
}

function columnsOf({ tenant, kind, key, value, updatedAt, updatedBy }: PolicyEntry): PolicyTable {
  return { tenant, kind, key, value, updated_at: Math.round(updatedAt), updated_by: updatedBy };
}

function entryOf({ tenant, kind, key, value, updated_at, updated_by }: Selectable<PolicyTable>): PolicyEntry {
  return { tenant, kind: kind as PolicyEntry["kind"], key, value, updatedAt: updated_at, updatedBy: updated_by };
}
