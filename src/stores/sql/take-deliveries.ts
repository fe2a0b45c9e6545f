import { type Selectable, sql } from "kysely";
import type { DeliveryTable } from "../migrations/index.ts";
import type { SqlEngine } from "./sql-engine.ts";

type Wish = { readonly now: number; readonly limit: number; readonly leaseMs: number };

/**
 * One statement that chooses and leases. Of one order only the oldest that waits may be chosen, leased or not, so that the
 * next one goes when it is done or given up. On PostgreSQL two that choose at once never choose the same: what the other is
 * about to lease is locked and passed over, and what it has just leased is looked at again before it counts.
 */
export function takeDeliveries(engine: SqlEngine, { now, limit, leaseMs }: Wish): Promise<Selectable<DeliveryTable>[]> {
  return (
    engine.database
      // Materialized: chosen once. Inlined, PostgreSQL may choose again for each row that it updates, and lease more than asked.
      .with(
        (name) => name("chosen").materialized(),
        (query) => {
          const choosing = query
            .selectFrom("deliveries as one")
            .select("one.sequence")
            .where("one.failed_at", "=", 0)
            .where("one.due_at", "<=", Math.round(now))
            .where("one.leased_until", "<=", engine.leaseClock())
            .where(({ or, eb, not, exists, selectFrom }) =>
              or([
                eb("one.order_key", "=", ""),
                not(
                  exists(
                    selectFrom("deliveries as older")
                      .select("older.sequence")
                      .whereRef("older.order_key", "=", "one.order_key")
                      .where("older.failed_at", "=", 0)
                      .whereRef("older.sequence", "<", "one.sequence"),
                  ),
                ),
              ]),
            )
            .orderBy("one.due_at")
            .orderBy("one.sequence")
            .limit(limit);
          return engine.name === "postgres" ? choosing.forUpdate("one").skipLocked() : choosing;
        },
      )
      .updateTable("deliveries")
      .set({
        leased_until: sql<number>`${engine.leaseClock()} + ${Math.round(leaseMs)}`,
        // Counted when it is begun: a message that ends its process must not be tried for ever.
        attempts: sql<number>`attempts + 1`,
      })
      .where("sequence", "in", (query) => query.selectFrom("chosen").select("sequence"))
      .returningAll()
      .execute()
  );
}
