import type { Selectable } from "kysely";
import {
  type Approval,
  type ApprovalChange,
  type ApprovalFilter,
  type ApprovalRows,
  type ApprovalState,
  type Evidence,
  NO_INPUT,
} from "../../contract/index.ts";
import type { ApprovalTable } from "../migrations/index.ts";
import { type ChangeStatement, statement } from "./change-statement.ts";
import { refuseNul, type SqlEngine } from "./sql-engine.ts";

const OPEN: readonly ApprovalState[] = ["waiting", "approved"];

export class SqlApprovalRows implements ApprovalRows {
  readonly #engine: SqlEngine;
  #gateway: string | undefined;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  async get(id: string): Promise<Approval | undefined> {
    const found = await this.#engine.run(() => this.#all.where("id", "=", id).executeTakeFirst());
    return found && approvalOf(found);
  }

  async states(ids: readonly string[]): Promise<ReadonlyMap<string, ApprovalState>> {
    const query = this.#engine.database.selectFrom("approvals").select(["id", "state"]).where("id", "in", ids);
    const found = ids.length === 0 ? [] : await this.#engine.run(() => query.execute());
    return new Map(found.map(({ id, state }) => [id, state as ApprovalState]));
  }

  async find(key: string): Promise<Approval | undefined> {
    const found = await this.#engine.run(() => this.#all.where("open_key", "=", key).executeTakeFirst());
    return found && approvalOf(found);
  }

  async list({ tenant, state, limit }: ApprovalFilter): Promise<readonly Approval[]> {
    let query = this.#all.orderBy("sequence", "desc").limit(limit);
    if (tenant !== undefined) query = query.where("tenant", "=", tenant);
    if (state !== undefined) query = query.where("state", "=", state);
    return (await this.#engine.run(() => query.execute())).map(approvalOf);
  }

  async count(principal: string): Promise<number> {
    const { count } = await this.#engine.run(() =>
      this.#engine.database
        .selectFrom("approvals")
        .select(({ fn }) => fn.countAll<number | string>().as("count"))
        .where("principal", "=", principal)
        .where("state", "in", OPEN)
        .executeTakeFirstOrThrow(),
    );
    return Number(count);
  }

  async overdue(now: number, limit: number): Promise<readonly Approval[]> {
    const query = this.#all.where("state", "in", OPEN).where("expires_at", "<=", Math.round(now)).limit(limit);
    return (await this.#engine.run(() => query.execute())).map(approvalOf);
  }

  async forget(before: number, most: number): Promise<void> {
    const { database } = this.#engine;
    const surplus = database
      .selectFrom("approvals")
      .select("sequence")
      .where("state", "not in", OPEN)
      .orderBy("sequence", "desc")
      .limit(1)
      .offset(most);
    const forgotten = database
      .deleteFrom("approvals")
      .where("state", "not in", OPEN)
      .where((row) => row.or([row("expires_at", "<", Math.round(before)), row("sequence", "<=", surplus)]));
    await this.#engine.run(() => forgotten.execute());
  }

  async gateway(): Promise<string> {
    this.#gateway ??= await this.#engine.run(async () => {
      const { id } = await this.#engine.database.selectFrom("gateway_identity").select("id").executeTakeFirstOrThrow();
      return id;
    });
    return this.#gateway;
  }

  get #all() {
    return this.#engine.database.selectFrom("approvals").selectAll();
  }
}

export function approvalStatements({ database }: SqlEngine, change: ApprovalChange): readonly ChangeStatement[] {
  if (change.type === "open") {
    refuseNul(change.approval);
    const opened = database.insertInto("approvals").values(columnsOf(change.approval));
    return [
      statement(
        opened.onConflict((conflict) => conflict.column("open_key").doNothing()),
        true,
      ),
    ];
  }
  const { id, from, to, by, given, policyVersion } = change;
  const now = Math.round(change.now);
  let moved = database
    .updateTable("approvals")
    .set({ state: to, decided_by: by, given, ...(!OPEN.includes(to) && { open_key: null, input: NO_INPUT }) })
    .where("id", "=", id)
    .where("state", "=", from)
    .where("expires_at", to === "expired" ? "<=" : ">", now);
  if (policyVersion !== undefined) moved = moved.where("policy_version", "=", policyVersion);
  return [statement(moved, true)];
}

function columnsOf(approval: Approval) {
  const { user, policyVersion, createdAt, expiresAt, decidedBy, ...same } = approval;
  return {
    ...same,
    user_name: user,
    open_key: approval.key,
    policy_version: policyVersion,
    created_at: Math.round(createdAt),
    expires_at: Math.round(expiresAt),
    decided_by: decidedBy,
  };
}

function approvalOf(found: Selectable<ApprovalTable>): Approval {
  const {
    sequence: _number,
    open_key: _key,
    user_name,
    policy_version,
    created_at,
    expires_at,
    decided_by,
    ...same
  } = found;
  return {
    ...same,
    user: user_name,
    policyVersion: policy_version,
    createdAt: created_at,
    expiresAt: expires_at,
    decidedBy: decided_by,
    evidence: same.evidence as Evidence,
    given: same.given as Evidence,
    state: same.state as ApprovalState,
  };
}
