/**
 * A message with holes where DESIGN section 8 lets a hop write: id, progress token, name, the id that a
 * cancel names, task id.
 * A control character cannot stand in JSON text, so it marks them. Filled texts hold one character per byte.
 */
export type Hole = "id" | "token" | "name" | "about" | "task";

export type Filling = Partial<Record<Hole, string>>;

const MARK = "\u0001";

export function hole(name: Hole): string {
  return `${MARK}${name}${MARK}`;
}

export function fill(template: string, filling: Filling): string {
  const parts = template.split(MARK);
  const text = parts.map((part, index) => {
    if (index % 2 === 0) return part;
    const value = filling[part as Hole];
    if (value === undefined) throw new Error(`nothing to put in for ${part}`);
    return value;
  });
  return Buffer.from(text.join("")).toString("latin1");
}
