import { describe, expect, test } from "vitest";
import { judgeEdge, MECHANISM_ORDER, RULES } from "./boundary-rules.ts";
import { readImports } from "./imports.ts";
import { hasPath, listFiles, readText } from "./repo-files.ts";

describe("imports inside src", () => {
  const files = listFiles("src", ".ts");

  test("follow the table of families", () => {
    const problems = files.flatMap((path) => readImports(path, readText(path))).map(judgeEdge);
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });

  test("name files that exist, with their extension", () => {
    const edges = files.flatMap((path) => readImports(path, readText(path)));
    const missing = edges.filter(({ to }) => to.startsWith("src/") && !hasPath(to));
    expect(missing).toEqual([]);
  });

  test("have a rule for every folder", () => {
    const families = new Set(files.map((path) => path.split("/")[1]));
    expect([...families].filter((family) => RULES[family as string] === undefined)).toEqual([]);
  });

  test("know every mechanism", () => {
    const mechanisms = new Set(listFiles("src/mechanisms", ".ts").map((path) => path.split("/")[2] as string));
    expect([...mechanisms].filter((name) => !MECHANISM_ORDER.includes(name))).toEqual([]);
  });
});

test("tests/kit is imported by nothing but tests", () => {
  // Inside src the table says so; these are the other places that could lean on it.
  const files = ["scripts", "bench", "examples"].flatMap((folder) =>
    [".ts", ".mjs"].flatMap((ext) => listFiles(folder, ext)),
  );
  const edges = files.filter((path) => !path.endsWith(".test.ts")).flatMap((path) => readImports(path, readText(path)));
  expect(edges.filter(({ to }) => to.startsWith("tests/kit/"))).toEqual([]);
});

describe("judgeEdge", () => {
  test.each([
    ["src/kernel/dispatch.ts", "src/contract/call.ts"],
    ["src/kernel/dispatch.ts", "src/kernel/runs.ts"],
    ["src/contract/error.ts", "node:util"],
    ["src/fronts/mcp/mcp-front.ts", "src/wire/mcp/skim.ts"],
    ["src/fronts/mcp/mcp-front.ts", "src/fronts/mcp/dialects/mgp.ts"],
    ["src/mechanisms/limits/limits.ts", "src/mechanisms/schemas/index.ts"],
    ["src/server/listen.ts", "src/providers/mcp/index.ts"],
    ["src/cli/main.ts", "commander"],
    ["src/kernel/runs.test.ts", "tests/kit/gateway.ts"],
    ["src/stores/sqlite/records.ts", "src/stores/sql/index.ts"],
    ["src/stores/sql/task-rows.ts", "src/stores/migrations/index.ts"],
  ])("lets %s import %s", (from, to) => {
    expect(judgeEdge({ from, to })).toBeUndefined();
  });

  test.each([
    ["src/contract/call.ts", "src/kernel/runs.ts", "contract may not import kernel"],
    ["src/contract/call.ts", "zod", "contract imports no npm package"],
    ["src/kernel/dispatch.ts", "zod", "kernel imports no npm package"],
    ["src/kernel/dispatch.ts", "src/wire/mcp/skim.ts", "kernel may not import wire"],
    ["src/fronts/mcp/mcp-front.ts", "src/providers/mcp/index.ts", "fronts may not import providers"],
    ["src/fronts/mcp/mcp-front.ts", "src/fronts/a2a/index.ts", "never imports another front"],
    ["src/providers/rest/rest-provider.ts", "src/providers/mcp/index.ts", "never imports another provider"],
    ["src/mechanisms/schemas/index.ts", "src/mechanisms/limits/limits.ts", "may not lean on it"],
    ["src/stores/postgres/postgres.ts", "src/stores/sqlite/records.ts", "never imports another store"],
    ["src/stores/sql/task-rows.ts", "src/stores/sqlite/records.ts", "never imports another store"],
    ["src/stores/migrations/plan.ts", "src/stores/sql/index.ts", "never imports another store"],
    ["src/server/listen.ts", "src/cli/main.ts", "server may not import cli"],
    ["src/cli/main.ts", "src/kernel/dispatch.ts", "cli may not import kernel"],
    ["src/kernel/runs.ts", "tests/kit/gateway.ts", "only from src/"],
    ["src/kernel/runs.ts", "src/kernel/runs.test.ts", "does not import tests"],
    ["src/oddments/x.ts", "src/contract/call.ts", "not a family"],
  ])("refuses %s importing %s", (from, to, reason) => {
    expect(judgeEdge({ from, to })).toContain(reason);
  });
});

describe("readImports", () => {
  test("sees every form of import and nothing in strings or comments", () => {
    const source = [
      'import { a } from "./a.ts";',
      'import type {\n  B,\n} from "../b.ts";',
      'import "node:fs";',
      'export * from "zod";',
      'const c = await import("./c.ts");',
      '// import "./no.ts"',
      "const text = 'import x from \"./no.ts\"';",
    ].join("\n");
    expect(readImports("src/kernel/x.ts", source).map((edge) => edge.to)).toEqual([
      "src/kernel/a.ts",
      "src/b.ts",
      "node:fs",
      "zod",
      "src/kernel/c.ts",
    ]);
  });
});
