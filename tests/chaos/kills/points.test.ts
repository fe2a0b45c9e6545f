/** The table of fault points and src name the same ones. */
import { expect, test } from "vitest";
import { listFiles, readText } from "../../structure/repo-files.ts";
import { DRIVEN, ELSEWHERE, UNREACHED } from "./points.ts";

const SOURCES = listFiles("src", ".ts").filter((path) => !path.endsWith(".test.ts"));

/** What stands in a template, found where it is given. */
const TEMPLATES: Readonly<Record<string, { readonly given: RegExp; readonly name: (given: string) => string }>> = {
  "script.sending": { given: /redisScript\(\s*"([^"]+)"/g, name: (script) => `redis.${script}.sending` },
  "script.acknowledged": { given: /redisScript\(\s*"([^"]+)"/g, name: (script) => `redis.${script}.acknowledged` },
  "`sqlite.${what}.acknowledged`": { given: /this\.#write\("([^"]+)"/g, name: (what) => `sqlite.${what}.acknowledged` },
  "`${point}.before`": { given: /\bpoint: "([^"]+)"/g, name: (point) => `${point}.before` },
  "`${point}.after`": { given: /\bpoint: "([^"]+)"/g, name: (point) => `${point}.after` },
};

function pointsOf(argument: string): string[] {
  const plain = /^"([^"]+)"$/.exec(argument)?.[1];
  if (plain !== undefined) return [plain];
  const template = TEMPLATES[argument];
  if (!template) throw new Error(`a fault point of a form that nobody can look up: ${argument}`);
  return SOURCES.flatMap((path) =>
    [...readText(path).matchAll(template.given)].map(([, given = ""]) => template.name(given)),
  );
}

test("every fault point of src stands in the table, and the table names no other", () => {
  const calls = SOURCES.filter((path) => path !== "src/contract/fault-point.ts").flatMap((path) =>
    [...readText(path).matchAll(/\bfaultPoint\(([^)]*)\)/g)].map(([, argument = ""]) => argument),
  );
  const inSource = new Set(calls.flatMap(pointsOf));
  const inTable = new Set([...DRIVEN, ...ELSEWHERE, ...UNREACHED].map(({ point }) => point));
  expect([...inTable].sort()).toEqual([...inSource].sort());
});

test("at least 40 fault points are driven by the death of a gateway", () => {
  expect(new Set(DRIVEN.map(({ point }) => point)).size).toBeGreaterThanOrEqual(40);
});

test.each(ELSEWHERE)("$point is driven by $file", ({ point, file }) => {
  expect(readText(file)).toContain(`"${point}"`);
});
