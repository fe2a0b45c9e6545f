import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { ERROR_CODES } from "../../src/contract/error.ts";
import { GOVERNED_PROBES, PROBES, WHILE_AWAY } from "../../tests/chaos/outages.ts";
import { cliPage } from "./cli.ts";
import { configPage } from "./config.ts";
import { configJsonSchemaPage } from "./config-json-schema.ts";
import { describeAnswers } from "./error-answers.ts";
import { errorPages } from "./errors.ts";
import { FULL_DISK, outagesPage } from "./outages.ts";

/** These name codes that others give. */
const JUDGES = [join("contract", "error.ts"), join("stages", "ledger-stage.ts")];

describe("errorPages", () => {
  test("writes one list and one page per code", () => {
    const entry = { retry: "never", message: "Not valid.", cause: "It is wrong.", cure: "Fix it." } as const;
    const pages = errorPages({ BAD_CALL: entry }, (code) => [`As ${code}.`]);
    expect(pages.map((page) => page.path)).toEqual(["docs/reference/errors.md", "docs/reference/errors/BAD_CALL.md"]);
    expect(pages[0]?.text).toContain("| [`BAD_CALL`](errors/BAD_CALL.md) | never | Not valid. |");
    expect(pages[1]?.text).toContain("**Cause.** It is wrong.\n\n**What to do.** Fix it.");
    expect(pages[1]?.text).toContain("## What the client sees\n\nAs BAD_CALL.");
  });

  test("says of a code that nothing gives it yet exactly when no source names it", () => {
    const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !JUDGES.includes(path))
      .map((path) => readFileSync(join("src", path), "utf8"));
    const unused = Object.keys(ERROR_CODES).filter((code) => !sources.some((text) => text.includes(`"${code}"`)));
    const pages = errorPages(ERROR_CODES, describeAnswers).filter(({ text }) => text.includes("never gives it"));
    expect(pages.map(({ path }) => path)).toEqual(unused.map((code) => `docs/reference/errors/${code}.md`));
  });
});

describe("describeAnswers", () => {
  test("shows a result on tools/call and an error elsewhere, as the front writes them", () => {
    const text = describeAnswers("DEADLINE_PASSED").join("\n");
    expect(text).toContain('"isError": true');
    expect(text).toContain('"code": -32603');
    expect(text).toContain('"code":"DEADLINE_PASSED","durationMs"');
  });

  test("shows one number for all methods where the front has one", () => {
    const text = describeAnswers("BAD_CALL").join("\n");
    expect(text).toContain('"code": -32602');
    expect(text).not.toContain("isError");
  });
});

describe("configPage", () => {
  test("writes one table per TOML table, with types, defaults and meanings", () => {
    const schema = z.strictObject({
      gateway: z
        .strictObject({
          listen: z.string().default("127.0.0.1:7411").describe("Address to listen on."),
          naming: z.enum(["dotted", "underscore"]).default("dotted").describe("How names are joined."),
        })
        .describe("The process itself."),
      servers: z.array(
        z.strictObject({
          id: z.string().describe("Its name | id."),
          args: z.array(z.string()).optional(),
          env: z.record(z.string(), z.union([z.string(), z.strictObject({ fromEnv: z.string() })])).optional(),
        }),
      ),
    });
    const { text } = configPage(schema);
    expect(text).toContain("## `[gateway]`\n\nThe process itself.");
    expect(text).toContain('| `listen` | string | `"127.0.0.1:7411"` | Address to listen on. |');
    expect(text).toContain('| `naming` | `"dotted"` or `"underscore"` | `"dotted"` | How names are joined. |');
    expect(text).toContain("## `[[servers]]`");
    expect(text).toContain("| `id` | string | required | Its name \\| id. |");
    expect(text).toContain("| `args` | list of string |  |  |");
    expect(text).toContain("| `env` | table of string or { fromEnv } |  |  |");
  });
});

describe("configJsonSchemaPage", () => {
  test("writes a schema of what a person may write, with meanings and without the results of reading it", () => {
    const schema = z.strictObject({
      timeout: z
        .string()
        .transform((text) => text.length)
        .prefault("60s")
        .describe("How long."),
      id: z.string().refine((text) => text !== "x"),
    });
    const { path, text } = configJsonSchemaPage(schema);
    expect(path).toBe("docs/reference/isthmus.schema.json");
    expect(JSON.parse(text)).toEqual({
      $schema: "http://json-schema.org/draft-07/schema#",
      title: "isthmus.toml",
      type: "object",
      properties: { timeout: { type: "string", default: "60s", description: "How long." }, id: { type: "string" } },
      required: ["id"],
      additionalProperties: false,
    });
  });
});

describe("outagesPage", () => {
  test("has the rows that the chaos run holds, each store under its own heading", () => {
    const { path, text } = outagesPage();
    expect(path).toBe("docs/reference/outages.md");
    const [, redis = "", postgres = ""] = text.split(/^## /m);
    expect(redis).toMatch(/^Redis is away\n\n\| what \| effect \| remark \|\n/);
    for (const [store, part] of [
      ["Redis", redis],
      ["PostgreSQL", postgres],
    ] as const)
      for (const probe of [...PROBES, ...GOVERNED_PROBES])
        expect(part).toContain(`| ${probe} | ${WHILE_AWAY[store][probe]} |`);
  });

  test.each(FULL_DISK)("names a test that exists: $what", ({ test: [file, title] }) => {
    expect(readFileSync(file, "utf8")).toContain(title);
  });
});

describe("cliPage", () => {
  test("writes one section per verb, nested verbs included", () => {
    const program = new Command("isthmus").description("A gateway.");
    program.command("up").description("Starts.").option("--listen <address>", "where", "127.0.0.1:7411");
    program.command("spec").command("validate <file>").description("Checks a spec.");
    const { text } = cliPage(program);
    expect(text).toContain("## `isthmus up`\n\nStarts.\n\n`isthmus up [options]`");
    expect(text).toContain('| `--listen <address>` | where (default: "127.0.0.1:7411") |');
    expect(text).toContain("## `isthmus spec validate`\n\nChecks a spec.");
  });
});
