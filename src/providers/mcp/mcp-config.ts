/** One MCP server in the config: how it is reached, and how its sessions are shared among clients. */
import * as z from "zod";
import { parseBytes, parseDurationMs } from "../../contract/index.ts";

const TRANSPORTS = {
  stdio: "stdio",
  http: "http",
  "streamable-http": "http",
  streamableHttp: "http",
  sse: "sse",
} as const satisfies Record<string, McpTransportKind>;

export type McpTransportKind = "stdio" | "http" | "sse";

/** Lazy: a config file has amounts of its own in these places. */
const amount = (parse: (text: string) => number | undefined, error: string) =>
  z.lazy(() =>
    z
      .union([z.number().nonnegative(), z.string().refine((text) => parse(text) !== undefined, { error })])
      .transform((value) => (typeof value === "number" ? value : (parse(value) as number))),
  );
const duration = () => amount(parseDurationMs, 'expected a duration such as "30s", "500ms" or "2m"');
const size = () => amount(parseBytes, 'expected a size such as "16MiB" or "64KB"');

/** The keys of a `[[servers]]` table that this provider reads. Secrets in `env` and `headers` are strings by now. */
export const mcpServerShape = {
  id: z.string().min(1).describe("What the server is called in lists, logs and paths."),
  transport: z
    .enum(Object.keys(TRANSPORTS) as [keyof typeof TRANSPORTS])
    .optional()
    .describe(
      "How the server is reached; when absent, `stdio` where there is a `command` and `http` where there is a `url`.",
    ),
  command: z.string().min(1).optional().describe("The program to start (stdio)."),
  args: z.array(z.string()).default([]).describe("Arguments of the program, passed as they are: no shell reads them."),
  cwd: z.string().optional().describe("The directory in which the program starts."),
  env: z
    .record(z.string(), z.string())
    .default({})
    .describe(
      "Environment variables of the program, added to those it inherits: where it runs, certificate authorities, proxies, and where package managers fetch from.",
    ),
  url: z
    .string()
    .refine((text) => /^https?:\/\//.test(text) && URL.canParse(text), { error: "expected an http(s) URL" })
    .optional()
    .describe("The endpoint of the server (http, sse). It may be loopback or private, because an operator wrote it."),
  headers: z.record(z.string(), z.string()).default({}).describe("Headers sent with every request (http, sse)."),
  era: z
    .enum(["auto", "2025", "2026"])
    .optional()
    .describe(
      "Which era of MCP the server speaks: up to 2025-11-25, or 2026-07-28. `auto`, the default, asks it and asks a server of the old era again after a day.",
    ),
  sessions: z
    .enum(["auto", "shared", "per-client"])
    .default("auto")
    .describe(
      "Whether clients share one upstream session or have one each. `auto`: one each for clients that can be asked " +
        "questions and for servers that issue session ids, shared otherwise.",
    ),
  task: z
    .enum(["auto", "off"])
    .optional()
    .describe(
      "`auto`: a call that takes long becomes a task for clients that know tasks. `off`, the default: only where the server itself makes one.",
    ),
  timeout: duration().optional().describe("How long a call to this server may take; goes before the gateway's own."),
  idle: duration()
    .optional()
    .describe(
      "How long an upstream session is kept without calls. Default: 10 minutes for a client's own, for ever for the shared one.",
    ),
  restart: z
    .enum(["on-failure", "never"])
    .default("on-failure")
    .describe("Whether the shared session is opened again after it was lost; with growing, randomised pauses."),
  maxSessions: z
    .number()
    .int()
    .positive()
    .default(256)
    .describe(
      "How many clients may have an upstream session of their own; those of one caller or user a quarter of it, those of one tenant half. " +
        "So many of its programs run for clients, those counted that have not ended yet; of them a caller starts a quarter of what it may have at once and each second (10 at least), until it has started all, and then as many a minute (60 at least).",
    ),
  listTtl: duration()
    .default(60_000)
    .describe(
      "How old the lists of a server may be that does not tell of changes: they are read again when a client lists. A server of 2026-07-28 may shorten it.",
    ),
  maxEntries: z
    .number()
    .int()
    .positive()
    .default(10_000)
    .describe(
      "How many entries of one list are read: of tools, resources, templates (no more than 500) and prompts each. The rest is left out.",
    ),
  maxList: size()
    .default(8 * 1024 * 1024)
    .describe(
      "How much of one list is read, all its pages together. The rest is left out, and so is any entry of more than 1 MiB, with a name or URI of more than 8 Ki characters, or with a template of more than 2 Ki characters or 32 expressions.",
    ),
  maxMessage: size()
    .default(16 * 1024 * 1024)
    .describe("The largest message the server may send."),
} as const;

export const mcpServerSchema = z.strictObject(mcpServerShape);

type Parsed = z.output<typeof mcpServerSchema>;

export type McpConfig = Omit<Parsed, "transport"> & {
  readonly transport: McpTransportKind;
  /** What of all that the server is given must not be seen in what it writes to standard error. */
  readonly secrets?: readonly string[];
};

/** Settles which transport is meant. Throws an Error that names the key and what would be right. */
export function mcpConfig(parsed: Parsed): McpConfig {
  const named = parsed.transport === undefined ? undefined : TRANSPORTS[parsed.transport];
  const transport = named ?? (parsed.command === undefined ? "http" : "stdio");
  const missing = transport === "stdio" ? "command" : "url";
  if (parsed[missing] === undefined)
    throw new Error(`${missing}: expected a value for transport "${transport}", found none`);
  const other = transport === "stdio" ? "url" : "command";
  if (parsed[other] !== undefined) throw new Error(`${other}: not used with transport "${transport}"`);
  return { ...parsed, transport };
}
