import * as z from "zod";
import {
  type AuditRows,
  GatewayError,
  type Operation,
  type Principal,
  requirePlatform,
  tenantOf,
} from "../../contract/index.ts";
import { operation, schemaOf } from "../schemas/index.ts";
import { type EventFilter, findEvents } from "./find-events.ts";
import { TRAIL_START, type TrailCursor, trailPage } from "./trail-pages.ts";
import type { KnownCheckpoint, TrailReport } from "./trail-verifier.ts";
import { verifyRows } from "./verify-trail.ts";

export type OperationPorts = {
  readonly rows: Pick<AuditRows, "search">;
  /** Unset: nothing is kept, and there is nothing to verify. */
  readonly kept?: AuditRows | undefined;
  /** Whether calls that nobody refused are put on it, too. */
  readonly hasPlain: boolean;
  /** PEM; read when it is needed. */
  readonly publicKey: string;
  /** What a whole trail has; unset: nothing is kept outside the store. */
  readonly known?: { readonly file: string; known(): Promise<KnownCheckpoint | undefined> } | undefined;
};

const text = z.string().max(1_024);
const time = z
  .string()
  .max(40)
  .refine((written) => !Number.isNaN(timeOf(written)), { error: "expected a time such as 2026-05-02T08:16:01.250Z" })
  .describe("ISO 8601, or ms since 1970.");

const query = z.strictObject({
  trace_id: text.optional(),
  event_type: text.optional(),
  agent_id: text.optional().describe("The id of the actor."),
  server_id: text.optional(),
  tool_name: text.optional().describe("Together with `server_id`."),
  tenant: text.optional(),
  result: z.enum(["SUCCESS", "FAILURE", "BLOCKED", "DENIED", "PENDING"]).optional(),
  from: time.optional(),
  to: time.optional(),
  limit: z
    .string()
    .regex(/^([1-9]\d{0,2}|1000)$/, { error: "expected a number from 1 to 1000" })
    .default("100"),
  cursor: text.optional().describe("`next` of the answer before."),
});

const known = z
  .string()
  .regex(/^[1-9]\d{0,14}:[0-9a-f]{64}$/, { error: "expected NUMBER:HASH, as a former report had it" })
  .describe("A checkpoint that must be there, as NUMBER:HASH.");

function knownOf(written: string): KnownCheckpoint {
  const [number = "", hash = ""] = written.split(":");
  return { number: Number(number), hash };
}

const event = z.strictObject({
  timestamp: z.string(),
  trace_id: z.string(),
  event_type: z.string(),
  actor: z.strictObject({ type: z.string(), id: z.string() }),
  target: z.strictObject({ server_id: z.string(), tool_name: z.string() }),
  result: z.string(),
  details: z.record(z.string(), z.unknown()),
});

const page = z.strictObject({
  events: z.array(event).describe("Newest first."),
  records: z
    .enum(["all", "decisions"])
    .describe("What this process puts on the trail: every call, or of calls only what was refused or decided."),
  next: z
    .string()
    .optional()
    .describe("There may be more, also where this page has few: ask again with it as `cursor`."),
});

const problem = z.strictObject({
  what: z.enum(["altered", "missing", "inserted", "moved", "signature"]),
  writer: z.string().optional(),
  block: z.number().optional(),
  lastBlock: z.number().optional(),
  event: z.number().optional(),
  checkpoint: z.number().optional(),
  text: z.string(),
});

const report = z.strictObject({
  isIntact: z.boolean(),
  events: z.number(),
  blocks: z.number(),
  chains: z.number(),
  checkpoints: z.number(),
  lastCheckpoint: z.strictObject({ number: z.number(), hash: z.string(), at: z.string() }).optional(),
  uncovered: z.number().describe("Blocks that no checkpoint has seen yet."),
  removed: z
    .strictObject({ blocks: z.number(), until: z.string() })
    .optional()
    .describe("What was removed because it was older than it is kept, as signed checkpoints say."),
  kept: z
    .strictObject({ file: z.string().optional(), number: z.number().optional() })
    .describe(
      "The checkpoint beside the key of the process that answers, which the trail must have; no number: none is kept yet.",
    ),
  keys: z.array(z.string()),
  problems: z.array(problem),
  publicKey: z.string(),
});

const exported = z.strictObject({
  items: z.array(z.record(z.string(), z.unknown())),
  next: z.string().optional(),
  publicKey: z.string(),
});

export function auditOperations(ports: OperationPorts): readonly Operation[] {
  const { rows, kept } = ports;
  let verifying: Promise<TrailReport> | undefined;
  const whole = (): AuditRows => {
    if (kept) return kept;
    const message = "This gateway keeps its audit trail in memory: there is nothing to verify.";
    throw new GatewayError("CONFLICT", { message });
  };
  const shared = (verify: () => Promise<TrailReport>): Promise<TrailReport> => {
    verifying ??= verify().finally(() => {
      verifying = undefined;
    });
    return verifying;
  };
  return [
    operation({
      id: "audit.query",
      method: "GET",
      path: "/api/audit",
      summary: "Events of the audit trail, newest first. Those of other tenants are for the tenant default only.",
      role: "viewer",
      input: schemaOf(query),
      output: schemaOf(page),
      run: async (input, { principal }) => {
        const { limit, cursor } = input;
        const wish = { limit: Number(limit), ...(cursor !== undefined && { cursor }) };
        const { events, next } = await findEvents(rows, filterOf(input, principal), wish);
        const records = ports.hasPlain ? ("all" as const) : ("decisions" as const);
        return { body: { events: [...events], records, ...(next !== undefined && { next }) } };
      },
    }),
    operation({
      id: "audit.verify",
      method: "GET",
      path: "/api/audit/verify",
      summary:
        "Reads the whole audit trail, of all tenants, and says whether, and where, anything was altered, removed, moved or inserted.",
      role: "operator",
      input: schemaOf(z.strictObject({ checkpoint: known.optional() })),
      output: schemaOf(report),
      run: async ({ checkpoint }, { principal }) => {
        requirePlatform(principal);
        const rows = whole();
        const given = checkpoint === undefined ? [] : [knownOf(checkpoint)];
        const beside = await ports.known?.known();
        const known = beside ? [...given, beside] : given;
        const verify = () => verifyRows(rows, { keys: [ports.publicKey], known });
        // Everybody who asks meanwhile gets the same answer: it costs as much as reading everything.
        const { keys, problems, ...counts } = await (checkpoint === undefined ? shared(verify) : verify());
        const kept = { ...(ports.known && { file: ports.known.file }), ...(beside && { number: beside.number }) };
        return { body: { ...counts, keys: [...keys], kept, problems: [...problems], publicKey: ports.publicKey } };
      },
    }),
    operation({
      id: "audit.export",
      method: "GET",
      path: "/api/audit/export",
      summary:
        "The whole audit trail, of all tenants, in pieces, with what proves it: checkpoints, heads, then blocks.",
      role: "admin",
      input: schemaOf(z.strictObject({ cursor: text.optional().describe("`next` of the answer before.") })),
      output: schemaOf(exported),
      run: async ({ cursor }, { principal }) => {
        requirePlatform(principal);
        const { items, next } = await trailPage(whole(), cursor === undefined ? TRAIL_START : readCursor(cursor));
        const { publicKey } = ports;
        return {
          body: { items: items.map((item) => ({ ...item })), ...(next && { next: JSON.stringify(next) }), publicKey },
        };
      },
    }),
  ];
}

function filterOf(input: z.output<typeof query>, principal: Principal): EventFilter {
  const given = {
    traceId: input.trace_id,
    type: input.event_type,
    actor: input.agent_id,
    server: input.server_id,
    name: input.tool_name,
    tenant: tenantOf(principal) ?? input.tenant,
    result: input.result,
    from: input.from === undefined ? undefined : timeOf(input.from),
    to: input.to === undefined ? undefined : timeOf(input.to),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function timeOf(written: string): number {
  return /^\d{1,15}$/.test(written) ? Number(written) : Date.parse(written);
}

const cursors = z.discriminatedUnion("phase", [
  z.strictObject({ phase: z.literal("checkpoints"), from: z.int().nonnegative() }),
  z.strictObject({ phase: z.literal("heads"), after: z.string(), seen: z.int().nonnegative() }),
  z.strictObject({ phase: z.literal("writers"), after: z.string(), seen: z.int().nonnegative() }),
  z.strictObject({
    phase: z.literal("blocks"),
    writer: z.string(),
    from: z.int().nonnegative(),
    seen: z.int().nonnegative(),
  }),
  z.strictObject({ phase: z.literal("later"), from: z.int().nonnegative() }),
]);

function readCursor(written: string): TrailCursor {
  try {
    return cursors.parse(JSON.parse(written));
  } catch {
    throw new GatewayError("BAD_CALL", { message: "cursor: expected one that a former answer had as `next`." });
  }
}
