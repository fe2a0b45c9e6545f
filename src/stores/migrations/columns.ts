/** Columns that mean the same in both engines. */
import { type ColumnDefinitionBuilder, sql } from "kysely";
import type { EngineName } from "./step.ts";

export const required = (column: ColumnDefinitionBuilder) => column.notNull();

/** A number that grows with each row, and is never given twice. */
export function sequence(engine: EngineName) {
  return (column: ColumnDefinitionBuilder) =>
    engine === "sqlite" ? column.primaryKey().autoIncrement() : column.primaryKey().generatedAlwaysAsIdentity();
}

/** Texts sort by their bytes in both, whatever language the database was made for. */
export function textKey(engine: EngineName) {
  return engine === "sqlite" ? sql`text` : sql`text collate "C"`;
}
