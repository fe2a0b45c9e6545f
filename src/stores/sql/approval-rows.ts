import { type ExpressionBuilder, type Selectable, sql } from "kysely";
import {
  type Approval,
  type ApprovalChange,
  type ApprovalFilter,
  type ApprovalPage,
  type ApprovalRows,
  type ApprovalState,
  type AskedBy,
  type Evidence,
  type ListedApproval,
  MAX_LISTED_INPUT,
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

  async find(openKey: string): Promise<Approval | undefined> {
    const found = await this.#engine.run(() => this.#all.where("open_key", "=", openKey).executeTakeFirst());
    return found && approvalOf(found);
  }

  async denied(key: string, by: AskedBy, now: number): Promise<Approval | undefined> {
    const held = this.#all.where("state", "=", "denied").where("expires_at", ">", Math.round(now));
    const query = held.where("key", "=", key).where(askedBy(by)).orderBy("sequence", "desc").limit(1);
    const found = await this.#engine.run(() => query.executeTakeFirst());
    return found && approvalOf(found);
  }

  async waiting(key: string, by: AskedBy): Promise<readonly string[]> {
    const ids = this.#engine.database.selectFrom("approvals").select("id").orderBy("sequence");
    const query = ids.where("state", "=", "waiting").where("key", "=", key).where(askedBy(by));
    return (await this.#engine.run(() => query.execute())).map(({ id }) => id);
  }

  /** Long params stay in the database. */
  async list({ limit, inTurns = false, ...filter }: ApprovalPage): Promise<readonly ListedApproval[]> {
    const { database } = this.#engine;
    const chosen = database
      .selectFrom("approvals")
      .select("sequence")
      .select(inTurns ? TURN.as("turn") : sql<number>`0`.as("turn"))
      .where(meant(filter));
    // Ids that begin alike stand together in their index.
    const first =
      filter.idStart === undefined ? chosen.orderBy("turn").orderBy("sequence", "desc") : chosen.orderBy("id");
    const query = database
      .selectFrom(first.limit(limit).as("chosen"))
      .innerJoin("approvals", "approvals.sequence", "chosen.sequence")
      .select(FACTS)
      .select([
        sql<string>`substr(input, 1, ${sql.lit(MAX_LISTED_INPUT)})`.as("beginning"),
        sql<number>`length(input)`.as("characters"),
      ])
      .orderBy("chosen.turn")
      .orderBy("chosen.sequence", "desc");
    const found = await this.#engine.run(() => query.execute());
    return found.map(({ beginning, characters, ...facts }) => ({ ...factsOf(facts), beginning, characters }));
  }

  async count(filter: ApprovalFilter): Promise<number> {
    const { count } = await this.#engine.run(() =>
      this.#engine.database
        .selectFrom("approvals")
        .select(({ fn }) => fn.countAll<number | string>().as("count"))
        .where(meant(filter))
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
      .where((row) =>
        row.or([
          row("expires_at", "<", Math.round(before)),
          // As `isLastingNo` has it.
          row.and([
            row("sequence", "<=", surplus),
            row.or([row("state", "!=", "denied"), row("given", "=", "session_user")]),
          ]),
        ]),
      );
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

type Where = ExpressionBuilder<{ approvals: ApprovalTable }, "approvals">;

/** How many newer ones there are of the same caller. */
const TURN = sql<number>`row_number() over (partition by tenant, user_name, case when user_name = '' then principal else '' end order by sequence desc)`;

/** Beyond everything that begins so. */
const LAST = "\u{10FFFF}";

/** Of ids that begin alike there are few, and of those that wait there may be many: SQLite would take the index of these. */
const PLAIN_STATE = sql<string>`coalesce(state, '')`;

function meant({ tenant, state, user, principal, idStart }: ApprovalFilter) {
  return (row: Where) =>
    row.and([
      ...(tenant === undefined ? [] : [row("tenant", "=", tenant)]),
      ...(state === undefined
        ? []
        : [row(idStart === undefined ? "state" : PLAIN_STATE, "in", state === "open" ? OPEN : [state])]),
      ...(user === undefined ? [] : [row("user_name", "=", user)]),
      ...(principal === undefined ? [] : [row("principal", "=", principal)]),
      ...(idStart === undefined ? [] : [row("id", ">=", idStart), row("id", "<", idStart + LAST)]),
    ]);
}

/** As `isAskedBy` has it, within one tenant. */
function askedBy({ tenant, principal, user, client, makers }: AskedBy) {
  const ofTenant = `user:${tenant}/`;
  const usersWhoMade = makers.filter((name) => name.startsWith(ofTenant)).map((name) => name.slice(ofTenant.length));
  const users = [user, ...usersWhoMade].filter((name) => name !== "");
  return (row: Where) => {
    const isClient = row("client", "=", client);
    return row.or([
      row("principal", "in", [principal, ...makers]),
      ...(users.length > 0 ? [row("user_name", "in", users)] : []),
      ...(client === "" ? [] : [user === "" ? isClient : row.and([isClient, row("user_name", "=", "")])]),
    ]);
  };
}

export function approvalStatements({ database }: SqlEngine, change: ApprovalChange): readonly ChangeStatement[] {
  if (change.type === "open") {
    const columns = columnsOf(change.approval, change.openKey);
    refuseNul(columns);
    const opened = database.insertInto("approvals").values(columns);
    return [
      statement(
        opened.onConflict((conflict) => conflict.column("open_key").doNothing()),
        true,
      ),
    ];
  }
  const { id, from, to, by, given, decider, policyVersion, until } = change;
  const now = Math.round(change.now);
  let moved = database
    .updateTable("approvals")
    .set({
      ...{ state: to, decided_by: by, given, decider: deciderText(decider) },
      ...(!OPEN.includes(to) && { open_key: null, input: NO_INPUT }),
      ...(until !== undefined && { expires_at: Math.round(until) }),
    })
    .where("id", "=", id)
    .where("state", "=", from)
    .where("expires_at", to === "expired" ? "<=" : ">", now);
  if (policyVersion !== undefined) moved = moved.where("policy_version", "=", policyVersion);
  return [statement(moved, true)];
}

function columnsOf(approval: Approval, openKey = approval.key) {
  const { user, calledAs, policyVersion, createdAt, expiresAt, decidedBy, decider, ...same } = approval;
  return {
    ...same,
    user_name: user,
    called_as: calledAs,
    open_key: openKey,
    policy_version: policyVersion,
    created_at: Math.round(createdAt),
    expires_at: Math.round(expiresAt),
    decided_by: decidedBy,
    decider: deciderText(decider),
  };
}

function deciderText(decider: Approval["decider"]): string {
  return decider === undefined ? "" : JSON.stringify(decider);
}

function approvalOf({ sequence: _number, open_key: _key, input, ...facts }: Selectable<ApprovalTable>): Approval {
  return { ...factsOf(facts), input };
}

/** All columns that say something of it, but for its params. */
const FACTS = [
  "id",
  "tenant",
  "principal",
  "user_name",
  "client",
  "server",
  "name",
  "tool",
  "called_as",
  "digest",
  "definition",
  "key",
  "policy_version",
  "reason",
  "capability",
  "evidence",
  "nonce",
  "created_at",
  "expires_at",
  "state",
  "decided_by",
  "given",
  "decider",
] as const;

function factsOf(found: Pick<Selectable<ApprovalTable>, (typeof FACTS)[number]>): Omit<Approval, "input"> {
  const { user_name, called_as, policy_version, created_at, expires_at, decided_by, decider, ...same } = found;
  return {
    ...same,
    user: user_name,
    calledAs: called_as,
    policyVersion: policy_version,
    createdAt: created_at,
    expiresAt: expires_at,
    decidedBy: decided_by,
    evidence: same.evidence as Evidence,
    given: same.given as Evidence,
    state: same.state as ApprovalState,
    decider: decider === "" ? undefined : JSON.parse(decider),
  };
}
