/** One `[[catalogs]]` table: a part of what the servers offer, under an address of its own. */
import * as z from "zod";

const MAX_PATTERN = 200;

const pattern = z
  .string()
  .min(1)
  .max(MAX_PATTERN, { error: `expected at most ${MAX_PATTERN} characters` });

const name = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, { error: "expected at most 64 of the characters A-Z a-z 0-9 _ - ." });

export const catalogSchema = z.lazy(() =>
  z
    .strictObject({
      id: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,63}$/, { error: "expected at most 63 of the characters A-Z a-z 0-9 _ -" })
        .describe("Its name in the address: `/{id}/mcp`. No server may have the same."),
      include: z
        .array(pattern)
        .default(["*"])
        .describe('Which tools and prompts are in it, by dotted name; `*` stands for any text: "files.*", "*.read_*".'),
      exclude: z.array(pattern).default([]).describe("Which of those are left out again."),
      rename: z
        .record(z.string(), name)
        .default({})
        .describe('What tools and prompts are called in it: `{ "files.read_file" = "read" }`.'),
      descriptions: z
        .record(z.string(), z.string())
        .default({})
        .describe(
          "What clients read about tools and prompts instead of the servers' own descriptions, by dotted name.",
        ),
      resources: z
        .boolean()
        .default(true)
        .describe("Whether the resources of every server that `include` names are in it."),
      instructions: z
        .string()
        .optional()
        .describe("What clients are told about it as a whole, instead of what its servers say of themselves."),
    })
    .describe("Each catalog: a part of what the servers offer, served at `/{id}/mcp`."),
);

export type CatalogConfig = Readonly<z.output<typeof catalogSchema>>;
