/** The cases between the eras, and which test shows each: cases.json names them, here it is held to its word. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../e2e/kit/program.ts";

/** `tests`: each as "path › name of the test, or of its row". `later`: why none shows it yet. */
type Case = {
  readonly case: number;
  readonly title: string;
  readonly tests?: readonly string[];
  readonly later?: string;
};

const CASES: readonly Case[] = JSON.parse(readFileSync(new URL("./cases.json", import.meta.url), "utf8"));

/** What is wrong with a test that is named, or undefined. */
function problemOf(named: string): string | undefined {
  const [path = "", name = ""] = named.split(" › ");
  if (!/\.test\.ts$|^tests\/conformance\//.test(path)) return `${path} is no test`;
  if (!existsSync(join(ROOT, path))) return `${path} does not exist`;
  const text = readFileSync(join(ROOT, path), "utf8");
  const isThere = ['"', "`", "'"].some((quote) => text.includes(quote + name + quote));
  return name !== "" && isThere ? undefined : `${path} has no test "${name}"`;
}

describe("the cases between the eras", () => {
  test("are a hundred, each there once and in order, with a title of its own", () => {
    expect(CASES.map((one) => one.case)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    expect(new Set(CASES.map(({ title }) => title)).size).toBe(100);
  });

  test.each(CASES)("$case: $title", ({ tests, later }) => {
    if (later !== undefined) return expect([tests, later]).toEqual([undefined, expect.stringMatching(/\w/)]);
    expect(tests).not.toEqual([]);
    expect(tests?.flatMap((named) => problemOf(named) ?? [])).toEqual([]);
  });
});
