/** What a condition is made of, as its parser gives it. */
type ConditionNode = { readonly op: string; readonly args: unknown };

/** Calls that walk a list, or the names in a map, and answer with true or false. */
export const WALKS: ReadonlySet<unknown> = new Set(["all", "exists", "exists_one"]);

export function isNode(value: unknown): value is ConditionNode {
  return typeof value === "object" && value !== null && "op" in value && "args" in value;
}

export function partsOf(args: unknown): readonly unknown[] {
  return Array.isArray(args) ? args : [];
}

/** Whether some variable of these stands in it. */
export function reads(value: unknown, isMeant: (variable: unknown) => boolean): boolean {
  if (Array.isArray(value)) return value.some((one) => reads(one, isMeant));
  return isNode(value) && (value.op === "id" ? isMeant(value.args) : reads(value.args, isMeant));
}

/** What is written out, also in parts that are put together; undefined: it is anything else. */
export function textOf(value: unknown): string | undefined {
  if (!isNode(value)) return typeof value === "string" ? value : undefined;
  if (value.op === "value") return typeof value.args === "string" ? value.args : undefined;
  if (value.op !== "+") return undefined;
  const parts = partsOf(value.args).map(textOf);
  return parts.every((part) => part !== undefined) ? parts.join("") : undefined;
}

/** Every text that is written out, as it is meant: without quotes and escapes. */
export function textsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isNode(value)) return [];
  const text = textOf(value);
  return [...(text === undefined ? [] : [text]), ...textsIn(value.args)];
}
