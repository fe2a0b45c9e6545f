import { expect, test } from "vitest";
import { namedPaths } from "./named-paths.ts";
import { hasPath, readText } from "./repo-files.ts";

const MAP = "ARCHITECTURE.md";

test("every path that ARCHITECTURE.md names exists", () => {
  expect(hasPath(MAP), `${MAP} is missing`).toBe(true);
  const paths = namedPaths(readText(MAP));
  expect(paths.length, "a map without a single path is not a map").toBeGreaterThan(0);
  expect(paths.filter((path) => !hasPath(path))).toEqual([]);
});

test("method names and patterns are not taken for paths", () => {
  const text = "`src/kernel/runs.ts#start`, `server/discover`, `src/*/index.ts`, `package.json`, `tests/`";
  expect(namedPaths(text)).toEqual(["src/kernel/runs.ts", "package.json", "tests/"]);
});
