import type { CompiledQuery, Kysely } from "kysely";

export type EngineName = "sqlite" | "postgres";

/**
 * One version of the tables: what leads to it from the version before. Once released a step never changes. It only says its
 * statements, so that an engine which runs them at once (SQLite) and one which is asked over a wire can both do it in one transaction.
 */
export type Step = {
  readonly name: string;
  statements(database: Kysely<unknown>, engine: EngineName): readonly CompiledQuery[];
};
