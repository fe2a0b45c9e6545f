import { expect, test } from "vitest";
import { hasPath, readText } from "./repo-files.ts";

const MAP = "ARCHITECTURE.md";

// Only words that start with a top folder count, because `server/discover` and its like are method names.
const PATH =
  /^(?:src|tests|docs|scripts|bench|examples|deploy|console|sdks|proto|changes|\.ci)\/[\w./-]*$|^[\w-]+\.(?:md|json|ts|toml)$/;

/** Paths in backticks; code blocks draw pictures and are left out, as are patterns like `src/*`. */
function namedPaths(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, "");
  const words = [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => (match[1] as string).replace(/[#:].*$/, ""));
  return [...new Set(words.filter((word) => PATH.test(word)))];
}

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
