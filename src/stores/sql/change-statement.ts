import type { Compilable, CompiledQuery } from "kysely";

/** One statement among others. `mustFind`: it is missed where it changes no row. */
export type ChangeStatement = { readonly query: CompiledQuery; readonly mustFind: boolean };

export function statement(query: Compilable, mustFind = false): ChangeStatement {
  return { query: query.compile(), mustFind };
}

/** Thrown to undo what was written before: a row was not as it had to be. */
export class Missed extends Error {
  override readonly name = "Missed";
}

/** For `catch`: what was missed is an answer, and no failure. */
export function missed(error: unknown): false {
  if (error instanceof Missed) return false;
  throw error;
}
