/** What operators may add while the gateway runs. The same is asked of what they sent and of what the store has of it. */
import * as z from "zod";
import { headerName } from "../../config/index.ts";

export const tableId = z.string().regex(/^[A-Za-z0-9_-]{1,63}$/);

/** Other variables are the gateway's own: whoever chooses the URL would be sent what they hold. */
const reference = z.strictObject({
  fromEnv: z
    .string()
    .regex(/^ISTHMUS_SERVER_\w{1,112}$/, { error: 'expected a variable whose name begins with "ISTHMUS_SERVER_"' })
    .describe("A variable of the gateway's environment whose name begins with `ISTHMUS_SERVER_`."),
});

/** What the gateway's environment holds is for servers of the config, whose author has it anyway. */
function refuseVariables(value: unknown, path: readonly PropertyKey[], context: z.RefinementCtx): void {
  if (typeof value === "string" && value.includes("${")) {
    const instead = 'name a variable that begins with "ISTHMUS_SERVER_" under headers, as { "fromEnv": … }';
    const message = `expected a text without "\${": no variables are filled in here; ${instead}`;
    context.addIssue({ code: "custom", path: [...path], message });
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) refuseVariables(inner, [...path, key], context);
}

/** No command: whoever has a token for this must not be able to start programs. No secret: only where it stands. */
const writtenServer = z.strictObject({
  url: z
    .string()
    .min(1)
    .max(2_048)
    .refine((text) => !hasUser(text), {
      error: "expected an address without a user: name a variable under headers instead",
    })
    .describe("Where it listens."),
  transport: z.enum(["http", "sse"]).optional(),
  prefix: z.string().max(63).optional().describe("What stands before the dot in the names of its tools."),
  headers: z
    .record(headerName.max(128), reference)
    .optional()
    .describe("Each by the environment variable that has it."),
  sessions: z.enum(["auto", "shared", "per-client"]).optional(),
  timeout: z.string().max(32).optional(),
  concurrency: z.int().min(1).max(100_000).optional(),
  pin: z.enum(["report", "block", "off"]).optional(),
});

export const serverTable = writtenServer.superRefine((table, context) => refuseVariables(table, [], context));

/** What is no address at all is refused elsewhere. */
function hasUser(text: string): boolean {
  const { username = "", password = "" } = URL.parse(text) ?? {};
  return username !== "" || password !== "";
}

const pattern = z.string().min(1).max(200);

export const catalogTable = z.strictObject({
  include: z.array(pattern).max(1_000).optional(),
  exclude: z.array(pattern).max(1_000).optional(),
  rename: z.record(z.string().max(256), z.string().max(64)).optional(),
  descriptions: z.record(z.string().max(256), z.string().max(4_096)).optional(),
  resources: z.boolean().optional(),
  instructions: z.string().max(16_384).optional(),
});

/** Throws where it is none of these. */
export function readTable(kind: "server" | "catalog", id: string, value: string): object {
  tableId.parse(id);
  return (kind === "server" ? serverTable : catalogTable).parse(JSON.parse(value));
}
