/** One `[[servers]]` table: what the provider reads, what mounting it needs, and MGP's own table. */
import * as z from "zod";
import { mcpServerShape } from "../../providers/mcp/mcp-config.ts";
import { durationMs, sizeBytes } from "./amounts.ts";
import { headerReferences } from "./header-schema.ts";
import { reference } from "./reference-schema.ts";
import { serverAuthSchema } from "./server-auth-config.ts";

const references = z.record(z.string(), reference).default({});

const { command, args, cwd, url, timeout, idle, maxMessage, listTtl, env, headers, restart } = mcpServerShape;

/** MGP's own words about a server. They name nothing that an MCP server must have. */
const mgpSchema = z
  .strictObject({
    extensions: z.array(z.string()).optional().describe("The extensions of MGP that the server speaks."),
    permissions_required: z.array(z.string()).optional().describe("The permissions that it needs to work."),
    trust_level: z.enum(["trusted", "standard", "sandboxed"]).optional().describe("How far it is trusted."),
    restart_policy: z
      .enum(["on_failure", "never", "always"])
      .optional()
      .describe('Read as `restart` where that is not given; "always" means what "on_failure" does.'),
  })
  .describe("MGP's own table. A server without it is plain MCP.");

const about = ({ description }: z.ZodType, more = "") => `${description ?? ""}${more}`;

/** See server-words.ts. */
const FILLED_IN = ` \`\${NAME:-default}\` in it is the variable of the gateway's environment, else the default.`;

export const serverSchema = z
  .strictObject({
    ...mcpServerShape,
    command: command.describe(about(command, FILLED_IN)),
    args: args.describe(about(args, FILLED_IN)),
    url: url.describe(about(url, FILLED_IN)),
    cwd: cwd.describe(about(cwd, `${FILLED_IN} Relative to the config file; by default its folder.`)),
    env: references.describe(about(env, ' A value may be { fromEnv = "NAME" } or { fromFile = "path" }.')),
    headers: headerReferences
      .default({})
      .describe(about(headers, ' A value may be { fromEnv = "NAME" } or { fromFile = "path" }.')),
    timeout: durationMs.optional().describe(about(timeout)),
    idle: durationMs.optional().describe(about(idle)),
    restart: restart
      .unwrap()
      .optional()
      .describe(about(restart, ' Default: what `mgp.restart_policy` says, else "on-failure".')),
    listTtl: durationMs.prefault("60s").describe(about(listTtl)),
    maxMessage: sizeBytes.prefault("16MiB").describe(about(maxMessage)),
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9_-]{0,63}$/, { error: "expected at most 63 of the characters A-Z a-z 0-9 _ -" })
      .optional()
      .describe(
        'What stands before the dot in the names of its tools. Default: the id. "" (one server at most): names pass as they are.',
      ),
    disabled: z
      .boolean()
      .default(false)
      .describe("Leaves the server out, as if its table were not there; `isthmus enable` and `disable` set it."),
    concurrency: z
      .int()
      .min(1)
      .default(64)
      .describe("How many calls it gets at once; four times as many may wait, and callers take turns."),
    breaker: z
      .boolean()
      .default(true)
      .describe(
        "Whether calls fail at once after 5 in a row were lost or 10 took too long, until one that is let through is answered.",
      ),
    pin: z
      .enum(["report", "block", "off"])
      .default("report")
      .describe(
        'What happens when a tool or prompt is not what it was when first seen: "report" says so in lists, log and `isthmus doctor`, "block" also holds it back until `isthmus pin accept`, "off" does not look.',
      ),
    mgp: mgpSchema.optional(),
    auth: serverAuthSchema.optional(),
  })
  .describe("Each MCP server behind the gateway.");

export type ServerTable = z.output<typeof serverSchema>;

/** Whether a lost server is started again: by our own key, else by MGP's. A server is never started for nothing else. */
export function restartOf({ restart: own, mgp }: ServerTable): "on-failure" | "never" {
  return own ?? (mgp?.restart_policy === "never" ? "never" : "on-failure");
}
