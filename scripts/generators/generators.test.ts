import { Command } from "commander";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { cliPage } from "./cli.ts";
import { configPage } from "./config.ts";
import { errorPages } from "./errors.ts";

describe("errorPages", () => {
  test("writes one list and one page per code", () => {
    const pages = errorPages({ BAD_CALL: { retry: "never", message: "Not valid.", cure: "Fix it." } });
    expect(pages.map((page) => page.path)).toEqual(["docs/reference/errors.md", "docs/reference/errors/BAD_CALL.md"]);
    expect(pages[0]?.text).toContain("| [`BAD_CALL`](errors/BAD_CALL.md) | never | Not valid. |");
    expect(pages[1]?.text).toContain("**What to do.** Fix it.");
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
