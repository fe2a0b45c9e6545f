import { type Selectable, sql } from "kysely";
import type {
  RiskClass,
  UpstreamToken,
  UpstreamTokenChange,
  UpstreamTokenFilter,
  UpstreamTokenRow,
  UpstreamTokenRows,
} from "../../contract/index.ts";
import type { UpstreamTokenTable } from "../migrations/index.ts";
import { type ChangeStatement, statement } from "./change-statement.ts";
import { refuseNul, type SqlEngine } from "./sql-engine.ts";

const FILTERS = {
  server: "server",
  tenant: "tenant",
  client: "client",
  user: "user_id",
  principal: "principal",
  session: "session_id",
} as const satisfies Record<keyof UpstreamTokenFilter, keyof UpstreamTokenTable>;

export class SqlUpstreamTokenRows implements UpstreamTokenRows {
  readonly #engine: SqlEngine;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  async get(id: string): Promise<UpstreamTokenRow | undefined> {
    const found = await this.#engine.run(() =>
      this.#engine.database.selectFrom("upstream_tokens").selectAll().where("id", "=", id).executeTakeFirst(),
    );
    return found && rowOf(found);
  }

  async find(
    filter: UpstreamTokenFilter,
    now: number,
    limit: number,
    after?: string,
  ): Promise<readonly UpstreamTokenRow[]> {
    const found = await this.#engine.run(() => {
      let query = this.#engine.database.selectFrom("upstream_tokens").selectAll().where("expires_at", ">", now);
      for (const [name, column] of Object.entries(FILTERS)) {
        const value = filter[name as keyof UpstreamTokenFilter];
        if (value !== undefined) query = query.where(column, "=", value);
      }
      if (after !== undefined) query = query.where("id", ">", after);
      return query.orderBy("id").limit(limit).execute();
    });
    return found.map(rowOf);
  }

  async expire(now: number): Promise<number> {
    const { numDeletedRows } = await this.#engine.run(() =>
      this.#engine.database.deleteFrom("upstream_tokens").where("expires_at", "<=", now).executeTakeFirstOrThrow(),
    );
    return Number(numDeletedRows);
  }
}

export function upstreamTokenStatements(
  { database }: SqlEngine,
  change: UpstreamTokenChange,
): readonly ChangeStatement[] {
  if (change.type === "remove") return [statement(database.deleteFrom("upstream_tokens").where("id", "=", change.id))];
  if (change.type === "lease") {
    const leased = database
      .updateTable("upstream_tokens")
      .set({ leased_until: Math.round(change.until), version: sql<number>`version + 1` })
      .where("id", "=", change.id)
      .where("version", "=", change.ifVersion);
    return [statement(leased, true)];
  }
  return [putStatement(database, change)];
}

type Put = Extract<UpstreamTokenChange, { type: "put" }>;

function putStatement(database: SqlEngine["database"], { token, ifVersion }: Put): ChangeStatement {
  refuseNul(token);
  const { id, ...rest } = columnsOf(token);
  const grown = { ...rest, leased_until: 0, version: sql<number>`upstream_tokens.version + 1` };
  if (ifVersion) {
    const update = database.updateTable("upstream_tokens").set(grown).where("id", "=", id);
    return statement(update.where("version", "=", ifVersion), true);
  }
  const insert = database.insertInto("upstream_tokens").values({ id, ...rest, version: 1, leased_until: 0 });
  if (ifVersion === 0)
    return statement(
      insert.onConflict((conflict) => conflict.column("id").doNothing()),
      true,
    );
  return statement(insert.onConflict((conflict) => conflict.column("id").doUpdateSet(grown)));
}

function columnsOf(token: UpstreamToken): Omit<UpstreamTokenTable, "version" | "leased_until"> {
  const { user, session, riskClass, scopes, expiresAt, wrappedKey, keyId, ...same } = token;
  return {
    ...same,
    user_id: user,
    session_id: session,
    risk_class: riskClass,
    scope_list: scopes,
    expires_at: Math.round(expiresAt),
    wrapped_key: wrappedKey,
    kms_key_url: keyId,
  };
}

function rowOf(found: Selectable<UpstreamTokenTable>): UpstreamTokenRow {
  const { user_id, session_id, risk_class, scope_list, expires_at, wrapped_key, kms_key_url, leased_until, ...same } =
    found;
  return {
    ...same,
    user: user_id,
    session: session_id,
    riskClass: risk_class as RiskClass,
    scopes: scope_list,
    expiresAt: expires_at,
    wrappedKey: wrapped_key,
    keyId: kms_key_url,
    leasedUntil: leased_until,
  };
}
