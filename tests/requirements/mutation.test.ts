import { transformSync } from "esbuild";
import { describe, expect, test } from "vitest";
import { mutateExport, sample } from "./mutation.ts";

const BODY = '{ throw new Error("mutated"); }';

/** Breaks `name`, and makes sure that what is left still is TypeScript. */
function broken(source: string, name = "f"): string | undefined {
  const mutated = mutateExport(source, name);
  if (mutated !== undefined) transformSync(mutated, { loader: "ts" });
  return mutated;
}

describe("mutateExport", () => {
  test.each([
    ["a plain function", "export function f() { return 1; }", `export function f() ${BODY}`],
    ["an async generator", "export async function* f() { yield 1; }", `export async function* f() ${BODY}`],
    [
      "a function with object types around it",
      "export function f<T extends { a: 1 }>(x: { b: T } = { b: y() }): Promise<{ c: () => T }> | { d: 1 } { return {}; }",
      `export function f<T extends { a: 1 }>(x: { b: T } = { b: y() }): Promise<{ c: () => T }> | { d: 1 } ${BODY}`,
    ],
    [
      "a type guard",
      "export function f(x: unknown): x is { a: 1 } { return true; }",
      `export function f(x: unknown): x is { a: 1 } ${BODY}`,
    ],
    [
      "a body with braces in strings, templates and regular expressions",
      'export function f() { return "}" + `}${"}"}` + /}/.source; } // }\nexport const g = 1;',
      `export function f() ${BODY} // }\nexport const g = 1;`,
    ],
    [
      "the implementation of overloads",
      "export function f(a: 1): void;\nexport function f(a: 2): void;\nexport function f(a: unknown) { g(a); }",
      `export function f(a: 1): void;\nexport function f(a: 2): void;\nexport function f(a: unknown) ${BODY}`,
    ],
    [
      "an arrow function",
      "export const f = (a: number) => { g(); return a; };\ng();",
      "export const f = undefined as never;\ng();",
    ],
    [
      "a typed table",
      "export const f: Record<string, () => void> = { a: () => {} } as const;",
      "export const f: Record<string, () => void> = undefined as never;",
    ],
    [
      "a function that is exported in a list",
      "function f() { return 1; }\nexport { f, g };",
      `function f() ${BODY}\nexport { f, g };`,
    ],
  ])("breaks %s", (_, source, expected) => {
    expect(broken(source)).toBe(expected);
  });

  test("breaks every method of a class and leaves its fields", () => {
    const source = [
      "export class f extends Base<{ a: 1 }> {",
      "  readonly #a: { b: number } = { b: 1 };",
      "  static readonly c = () => { return 2; };",
      "  constructor(a: number) { super(a); }",
      "  get d(): { e: 1 } { return this.x; }",
      "  async g<T>(x: T): Promise<T> { return x; }",
      "  [Symbol.dispose]() { this.close(); }",
      "}",
    ].join("\n");
    const mutated = broken(source) ?? "";
    expect(mutated.split(BODY)).toHaveLength(5);
    expect(mutated).toContain("= { b: 1 };");
    expect(mutated).toContain("{ return 2; }");
    expect(mutated).not.toMatch(/super|this|return x/);
  });

  test.each([
    ["a re-export", 'export { f } from "./f.ts";'],
    ["a type", "export type f = string;"],
    ["a name that only starts alike", "export function ff() {}"],
    ["a name in a comment", "// export function f() {}"],
  ])("finds nothing to break in %s", (_, source) => {
    expect(broken(source)).toBeUndefined();
  });
});

describe("sample", () => {
  test("gives the same rows for the same seed, each at most once", () => {
    const items = Array.from({ length: 50 }, (_, index) => index);
    expect(sample(items, 10, 7)).toEqual(sample(items, 10, 7));
    expect(new Set(sample(items, 10, 7)).size).toBe(10);
    expect(sample(items, 10, 7)).not.toEqual(sample(items, 10, 8));
    expect(sample(items, 99, 7)).toHaveLength(50);
  });
});
