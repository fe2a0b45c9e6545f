import { type Selectable, sql, type Updateable } from "kysely";
import { type Delivery, type DeliveryChange, type DeliveryRows, faultPoint } from "../../contract/index.ts";
import type { DeliveryTable } from "../migrations/index.ts";
import { type ChangeStatement, statement } from "./change-statement.ts";
import { refuseNul, type SqlEngine } from "./sql-engine.ts";
import { takeDeliveries } from "./take-deliveries.ts";

/** Of those that were given up; older ones are forgotten. */
const KEPT_FAILURES = 1_000;

/** Failures beyond the bound that go at one time: there is never more than the one that just came. */
const TRIMMED_AT_ONCE = 1_000;

export class SqlDeliveryRows implements DeliveryRows {
  readonly #engine: SqlEngine;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  async add(delivery: Delivery): Promise<void> {
    refuseNul(delivery);
    faultPoint("records.delivery.adding");
    await this.#engine.run(() => {
      // The rows of one order must become visible in the order of their numbers: a row that shows itself after a later
      // one was taken would be on its way together with it. So whoever adds to an order waits for the one before.
      if (this.#engine.name === "sqlite" || delivery.order === "") return insert(this.#database, delivery);
      return this.#database.transaction().execute(async (transaction) => {
        await sql`select pg_advisory_xact_lock(hashtextextended(${`delivery:${delivery.order}`}, 0))`.execute(
          transaction,
        );
        await insert(transaction, delivery);
      });
    });
    faultPoint("records.delivery.added");
  }

  async take(now: number, limit: number, leaseMs: number): Promise<readonly Delivery[]> {
    if (limit <= 0) return [];
    const taken = await this.#engine.run(() => takeDeliveries(this.#engine, { now, limit, leaseMs }));
    if (taken.length > 0) faultPoint("records.delivery.taken");
    return taken.sort((a, b) => a.sequence - b.sequence).map(deliveryOf);
  }

  async done(id: string): Promise<void> {
    faultPoint("records.delivery.ending");
    await this.#engine.run(() => this.#database.deleteFrom("deliveries").where("id", "=", id).execute());
    faultPoint("records.delivery.ended");
  }

  async retry(id: string, dueAt: number, lastError: string, attempt?: number): Promise<void> {
    refuseNul({ lastError });
    await this.#write(id, attempt, { due_at: Math.round(dueAt), last_error: lastError, leased_until: 0 });
  }

  async fail(id: string, lastError: string, attempt?: number): Promise<void> {
    refuseNul({ lastError });
    await this.#write(id, attempt, { failed_at: this.#engine.now(), last_error: lastError, leased_until: 0 });
    await this.#engine.run(() => this.#trim());
  }

  async failed(limit: number): Promise<readonly Delivery[]> {
    const found = await this.#engine.run(() =>
      this.#database
        .selectFrom("deliveries")
        .selectAll()
        .where("failed_at", ">", 0)
        .orderBy("failed_at", "desc")
        .orderBy("sequence", "desc")
        .limit(limit)
        .execute(),
    );
    return found.map(deliveryOf);
  }

  async count(): Promise<number> {
    const { waiting } = await this.#engine.run(() =>
      this.#database
        .selectFrom("deliveries")
        .select(({ fn }) => fn.countAll<number>().as("waiting"))
        .where("failed_at", "=", 0)
        .executeTakeFirstOrThrow(),
    );
    return waiting;
  }

  get #database() {
    return this.#engine.database;
  }

  async #write(id: string, attempt: number | undefined, change: Updateable<DeliveryTable>): Promise<void> {
    faultPoint("records.delivery.ending");
    await this.#engine.run(() => {
      const writing = this.#database
        .updateTable("deliveries")
        .set(change)
        .where("id", "=", id)
        .where("failed_at", "=", 0);
      return (attempt === undefined ? writing : writing.where("attempts", "=", attempt)).execute();
    });
    faultPoint("records.delivery.ended");
  }

  #trim(): Promise<unknown> {
    return this.#database
      .deleteFrom("deliveries")
      .where("sequence", "in", (query) =>
        query
          .selectFrom("deliveries")
          .select("sequence")
          .where("failed_at", ">", 0)
          .orderBy("failed_at", "desc")
          .orderBy("sequence", "desc")
          .limit(TRIMMED_AT_ONCE)
          .offset(KEPT_FAILURES),
      )
      .execute();
  }
}

function insert(database: SqlEngine["database"], delivery: Delivery): Promise<unknown> {
  return insertion(database, delivery).execute();
}

export function deliveryStatements({ database }: SqlEngine, { delivery }: DeliveryChange): readonly ChangeStatement[] {
  refuseNul(delivery);
  return [statement(insertion(database, { ...delivery, order: "" }))];
}

function insertion(database: SqlEngine["database"], delivery: Delivery) {
  const { id, channel, target, body, order, attempts, lastError } = delivery;
  return (
    database
      .insertInto("deliveries")
      .values({
        ...{ id, channel, target, body, attempts },
        order_key: order,
        due_at: Math.round(delivery.dueAt),
        expires_at: Math.round(delivery.expiresAt),
        last_error: lastError,
        leased_until: 0,
        failed_at: 0,
      })
      // Whoever could not hear that it was added adds it again.
      .onConflict((conflict) => conflict.column("id").doNothing())
  );
}

function deliveryOf(found: Selectable<DeliveryTable>): Delivery {
  const { id, channel, target, body, attempts } = found;
  return {
    ...{ id, channel, target, body, attempts },
    order: found.order_key,
    dueAt: found.due_at,
    expiresAt: found.expires_at,
    lastError: found.last_error,
  };
}
