import type { Selectable } from "kysely";
import { NAMED_BY, ROLES, type TokenChange, type TokenRow, type TokenRows } from "../../contract/index.ts";
import type { TokenTable } from "../migrations/index.ts";
import { type ChangeStatement, statement } from "./change-statement.ts";
import { refuseNul, type SqlEngine } from "./sql-engine.ts";

export class SqlTokenRows implements TokenRows {
  readonly #engine: SqlEngine;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  async find(hash: string): Promise<TokenRow | undefined> {
    const found = await this.#engine.run(() => this.#all().where("hash", "=", hash).executeTakeFirst());
    return found && rowOf(found);
  }

  async get(id: string): Promise<TokenRow | undefined> {
    const found = await this.#engine.run(() => this.#all().where("id", "=", id).executeTakeFirst());
    return found && rowOf(found);
  }

  async list(limit: number, after = "", tenant?: string): Promise<readonly TokenRow[]> {
    const all = this.#all().where("id", ">", after).orderBy("id").limit(limit);
    const found = await this.#engine.run(() =>
      (tenant === undefined ? all : all.where("tenant", "=", tenant)).execute(),
    );
    return found.map(rowOf);
  }

  async count(tenant: string, now: number): Promise<number> {
    const alive = this.#engine.database
      .selectFrom("tokens")
      .where("tenant", "=", tenant)
      .where((where) => where.or([where("expires_at", "=", 0), where("expires_at", ">", now)]))
      .select(({ fn }) => fn.countAll().as("count"));
    const { count } = await this.#engine.run(() => alive.executeTakeFirstOrThrow());
    return Number(count);
  }

  async touch(hash: string, usedAt: number): Promise<void> {
    const used = { last_used_at: Math.round(usedAt) };
    await this.#engine.run(() =>
      this.#engine.database.updateTable("tokens").set(used).where("hash", "=", hash).execute(),
    );
  }

  async expire(now: number): Promise<number> {
    const gone = this.#engine.database.deleteFrom("tokens").where("expires_at", ">", 0).where("expires_at", "<=", now);
    const { numDeletedRows } = await this.#engine.run(() => gone.executeTakeFirstOrThrow());
    return Number(numDeletedRows);
  }

  #all() {
    return this.#engine.database.selectFrom("tokens").selectAll();
  }
}

export function tokenStatements({ database }: SqlEngine, change: TokenChange): readonly ChangeStatement[] {
  if (change.type === "remove") return [statement(database.deleteFrom("tokens").where("id", "=", change.id), true)];
  const columns = columnsOf(change.row);
  refuseNul({ ...columns });
  return [statement(database.insertInto("tokens").values(columns))];
}

function columnsOf(row: TokenRow): TokenTable {
  return {
    hash: row.hash,
    id: row.id,
    tenant: row.tenant,
    user_name: row.user,
    client: row.client,
    group_names: JSON.stringify(row.groups),
    scopes: JSON.stringify(row.scopes),
    role: row.role ?? "",
    created_at: Math.round(row.createdAt),
    created_by: row.createdBy,
    makers: JSON.stringify(row.makers),
    named_by: row.namedBy ?? "",
    maker_names: JSON.stringify(row.makerNames),
    expires_at: Math.round(row.expiresAt ?? 0),
    last_used_at: Math.round(row.lastUsedAt ?? 0),
  };
}

function rowOf(found: Selectable<TokenTable>): TokenRow {
  const { hash, id, tenant, user_name, client, group_names, scopes, role, created_at, created_by } = found;
  return {
    hash,
    id,
    tenant,
    user: user_name,
    client,
    groups: JSON.parse(group_names),
    scopes: JSON.parse(scopes),
    role: ROLES.find((one) => one === role),
    createdAt: created_at,
    createdBy: created_by,
    makers: JSON.parse(found.makers),
    namedBy: NAMED_BY.find((one) => one === found.named_by),
    makerNames: JSON.parse(found.maker_names),
    expiresAt: found.expires_at === 0 ? undefined : found.expires_at,
    lastUsedAt: found.last_used_at === 0 ? undefined : found.last_used_at,
  };
}
