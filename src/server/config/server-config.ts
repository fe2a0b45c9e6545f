/** One `[[servers]]` table: what the provider reads, what mounting it needs, and MGP's own table. */
import * as z from "zod";
import { mcpServerShape } from "../../providers/mcp/mcp-config.ts";
import { durationMs, sizeBytes } from "./amounts.ts";

const reference = z.union(
  [z.string(), z.strictObject({ fromEnv: z.string() }), z.strictObject({ fromFile: z.string() })],
  { error: 'expected a string, { fromEnv = "NAME" } or { fromFile = "path" }' },
);

const references = z.record(z.string(), reference).default({});

const { cwd, timeout, idle, maxMessage, env, headers } = mcpServerShape;

const about = ({ description }: z.ZodType, more = "") => `${description ?? ""}${more}`;

export const serverSchema = z
  .strictObject({
    ...mcpServerShape,
    cwd: cwd.describe(about(cwd, " Relative to the config file; by default its folder.")),
    env: references.describe(about(env, ' A value may be { fromEnv = "NAME" } or { fromFile = "path" }.')),
    headers: references.describe(about(headers, ' A value may be { fromEnv = "NAME" } or { fromFile = "path" }.')),
    timeout: durationMs.optional().describe(about(timeout)),
    idle: durationMs.optional().describe(about(idle)),
    maxMessage: sizeBytes.prefault("16MiB").describe(about(maxMessage)),
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9_-]{0,63}$/, { error: "expected at most 63 of the characters A-Z a-z 0-9 _ -" })
      .optional()
      .describe(
        'What stands before the dot in the names of its tools. Default: the id. "" (one server at most): names pass as they are.',
      ),
    concurrency: z.int().min(1).default(64).describe("How many calls it gets at once; four times as many may wait."),
    mgp: z.looseObject({}).optional().describe("MGP's own table. Kept; nothing reads it yet."),
  })
  .describe("Each MCP server behind the gateway.");
