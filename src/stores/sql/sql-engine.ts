import type { Expression, Kysely } from "kysely";
import { GatewayError } from "../../contract/index.ts";
import type { EngineName, Tables } from "../migrations/index.ts";

/** What the tables need of the engine below them; all else is the same for every one. */
export interface SqlEngine {
  readonly name: EngineName;
  readonly database: Kysely<Tables>;
  /** The time that leases run on, which no process can set: the store's own. */
  leaseClock(): Expression<number>;
  /** Everybody's time, in ms. */
  now(): number;
  /**
   * Everything the tables do goes through here. Throws only GatewayErrors. `work` is one statement, or one transaction of
   * PostgreSQL: SQLite's connection belongs to others, too, and an open transaction would swallow what they write.
   */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** PostgreSQL cannot keep this one character in a text; what only one of the two can keep, neither takes. */
export function refuseNul(fields: Readonly<Record<string, string | number | boolean>>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string" && value.includes("\0")) {
      throw new GatewayError("BAD_CALL", { message: `${name}: the character U+0000 cannot be kept.` });
    }
  }
}
