/** The `[access]` table: who may see and call what. What operators set while the gateway runs is put together with it. */

import * as z from "zod";
import { EVIDENCE, patternReaches } from "../../contract/index.ts";
import {
  ANY,
  BINDING_TARGETS,
  compileCondition,
  DEFAULT_POLICIES,
  ExpressionFault,
} from "../../mechanisms/access/index.ts";
import { stemsOf } from "./check-servers.ts";
import { didYouMean } from "./nearest.ts";
import type { Problem } from "./problem.ts";
import { READ_ONCE } from "./read-once.ts";

const MAX_NAME = 256;
const MAX_TABLES = 10_000;

const name = z.string().min(1).max(MAX_NAME);
const tenant = name.default("*").describe("The tenant it is for. Default: every one.");
const protocol = z.enum(["mcp", "a2a", "*"]).default("*").describe("The protocol it is for. Default: every one.");
const dotted = name.describe('Names of tools and prompts as lists show them, `*` stands for any text: "files.*".');

const id = (what: string) =>
  z
    .string()
    .max(MAX_NAME)
    .regex(/^(\*|[^*]+|[^*]+\.\*)$/, { error: 'expected an id, "*", or the beginning of ids and ".*"' })
    .describe(`${what}: an id, "*", or what it begins with and ".*".`);

const grantSchema = z.lazy(() =>
  z
    .strictObject({
      agent: id("Who"),
      server: id("The server"),
      tool: name
        .regex(/^[^*]*$/, {
          error: 'expected the name of one tool, which takes no "*": for all of the server leave tool out',
        })
        .optional()
        .describe("One tool of the server, by the server's own name for it. Unset: all of the server."),
      permission: z.enum(["allow", "deny"]).default("allow").describe("Whether they may."),
      expires: z.iso
        .datetime({ offset: true, error: "expected a time such as 2026-12-31T00:00:00Z" })
        .optional()
        .describe("When it is over, as `2026-12-31T00:00:00Z`. Unset: never."),
      justification: z.string().max(1000).default("").describe("Why, for whoever reads it later."),
      tenant,
    })
    .describe(
      "Each grant of MGP. One for a tool goes before one for a server, the more exact before the less exact, deny before allow.",
    ),
);

const bindingSchema = z.lazy(() =>
  z
    .strictObject({
      target: z
        .strictObject({
          type: z.enum(BINDING_TARGETS).describe("Whether the pattern is about users, clients or groups."),
          pattern: name.describe("An id; `*` stands for any text."),
        })
        .describe("Whom it is about."),
      primitive: dotted,
      protocol,
      allowed: z.boolean().default(true).describe("Whether they may."),
      tenant,
    })
    .describe(
      "Each binding. The very id goes before a pattern before `*`, then users before clients before groups, then deny before allow.",
    ),
);

const exposureSchema = z.lazy(() =>
  z
    .strictObject({
      server: name.describe('The id of a server or catalog, or "*".'),
      primitive: name.optional().describe("One primitive of it, or several by `*`. Unset: the server itself."),
      protocol,
      enabled: z.boolean().describe("Whether it can be used at all."),
      tenant,
    })
    .describe("Each switch. What is switched off can be seen and called by nobody, whatever they were granted."),
);

const scopeSchema = z.lazy(() =>
  z
    .strictObject({
      match: dotted,
      scopes: z.array(name).min(1).describe("What a caller's token must be good for, all of it."),
    })
    .describe("Each set of scopes that callers need."),
);

const ruleSchema = z.lazy(() =>
  z
    .strictObject({
      match: dotted,
      when: z
        .string()
        .min(1)
        .optional()
        .describe(
          "A condition in CEL over `args`, `principal`, `tool`, `server` and `protocol`, such as `args.amount > 100`. Unset: it always holds. One that cannot be judged for a call denies it.",
        ),
      effect: z
        .enum(["deny", "confirm", "allow"])
        .describe(
          '"deny" refuses the call, "confirm" lets somebody approve it first, "allow" allows what nothing else has denied.',
        ),
      evidence: z.enum(EVIDENCE).default("operator").describe("Who must approve it at least, for `confirm`."),
      tenant,
    })
    .describe("Each rule about calls. It is asked after grants, bindings and scopes."),
);

export const accessSchema = z
  .strictObject({
    defaultPolicy: z
      .enum(DEFAULT_POLICIES)
      .optional()
      .describe(
        'Whether callers about whom nothing is said may use what is there ("opt-out") or not ("opt-in"). Unset: opt-out for the local user of a gateway without authentication, opt-in for everybody else.',
      ),
    servers: z
      .record(z.string(), z.enum(DEFAULT_POLICIES))
      .default({})
      .describe("The same for single servers, by their ids."),
    conceal: z
      .boolean()
      .default(true)
      .describe(
        "Whether what a caller may not use looks as if it were not there; otherwise a call of it says that it is not allowed.",
      ),
    grants: z.array(grantSchema).max(MAX_TABLES).default([]),
    bindings: z.array(bindingSchema).max(MAX_TABLES).default([]),
    exposure: z.array(exposureSchema).max(MAX_TABLES).default([]),
    scopes: z.array(scopeSchema).max(MAX_TABLES).default([]),
    rules: z.array(ruleSchema).max(1000).default([]),
  })
  .describe("Who may see and call what.");

export type AccessConfig = Readonly<z.output<typeof accessSchema>>;

/** What must hold among the table, the servers and the catalogs. A table that is wrong by itself is left to the schema. */
export function checkAccess(
  raw: unknown,
  segments: ReadonlyMap<string, string>,
  catalogs: readonly string[],
): Problem[] {
  const parsed = accessSchema.safeParse(raw ?? {}, READ_ONCE);
  if (!parsed.success) return [];
  const { servers, grants, bindings, exposure, scopes, rules } = parsed.data;
  const ids = [...segments.keys()];
  const stems = stemsOf(segments);
  const problems: Problem[] = Object.keys(servers)
    .filter((server) => !segments.has(server))
    .map((server) => ({ path: ["access", "servers", server], text: "expected the id of a server in this file" }));
  const check = (list: string, place: number, key: string, pattern: string) => {
    if (stems.some((stem) => patternReaches(pattern, stem))) return;
    const text = `expected SERVER.NAME of a server in this file, found ${JSON.stringify(pattern)}`;
    problems.push({ path: ["access", list, place, key], text });
  };
  for (const [place, { server }] of grants.entries()) {
    if (server.includes("*") || segments.has(server)) continue;
    const text = `expected the id of a server in this file, found ${JSON.stringify(server)}${didYouMean(server, ids)}`;
    problems.push({ path: ["access", "grants", place, "server"], text });
  }
  const switched = [...ids, ...catalogs];
  for (const [place, { server }] of exposure.entries()) {
    if (server === ANY || switched.includes(server)) continue;
    const found = `found ${JSON.stringify(server)}${didYouMean(server, switched)}`;
    const text = `expected the id of a server or catalog in this file, or "*", ${found}`;
    problems.push({ path: ["access", "exposure", place, "server"], text });
  }
  for (const [place, { primitive }] of bindings.entries()) check("bindings", place, "primitive", primitive);
  for (const [place, { match }] of scopes.entries()) check("scopes", place, "match", match);
  for (const [place, { match, when }] of rules.entries()) {
    check("rules", place, "match", match);
    const fault = when === undefined ? undefined : faultOf(when);
    if (fault !== undefined) problems.push({ path: ["access", "rules", place, "when"], text: fault });
  }
  return problems;
}

function faultOf(when: string): string | undefined {
  try {
    compileCondition(when);
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionFault) return error.message;
    throw error;
  }
}
