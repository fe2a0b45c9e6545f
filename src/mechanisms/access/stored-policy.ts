/** What operators have set, as it is kept: JSON of one of these forms for each entry. */
import * as z from "zod";
import { GatewayError, type PolicyEntry } from "../../contract/index.ts";
import {
  type AccessPolicy,
  BINDING_TARGETS,
  type Binding,
  DEFAULT_POLICIES,
  type DefaultRule,
  type Exposure,
  type Grant,
} from "./policy.ts";

const grant = z.lazy(() =>
  z.object({
    type: z.enum(["tool_grant", "server_grant"]),
    agent: z.string(),
    server: z.string(),
    tool: z.string(),
    permission: z.enum(["allow", "deny"]),
    justification: z.string(),
    expiresAt: z.number().optional(),
  }),
);

const exposure = z.lazy(() =>
  z.object({ server: z.string(), protocol: z.string(), primitive: z.string(), enabled: z.boolean() }),
);

const binding = z.lazy(() =>
  z.object({
    target: z.object({ type: z.enum(BINDING_TARGETS), pattern: z.string() }),
    primitive: z.string(),
    protocol: z.string(),
    allowed: z.boolean(),
  }),
);

const setting = z.lazy(() => z.object({ server: z.string(), policy: z.enum(DEFAULT_POLICIES) }));

export type StoredGrant = z.output<typeof grant>;
export type StoredExposure = z.output<typeof exposure>;
export type StoredBinding = z.output<typeof binding>;
export type StoredDefault = z.output<typeof setting>;

/** Throws STATE_UNAVAILABLE where one of them is none of ours: nothing may be decided without what it says. */
export function readGrant(entry: PolicyEntry): Grant {
  const { expiresAt, ...rest } = parsed(grant, entry);
  return { tenant: entry.tenant, ...rest, expiresAt, grantedBy: entry.updatedBy, grantedAt: entry.updatedAt };
}

export function readExposure(entry: PolicyEntry): Exposure {
  return { tenant: entry.tenant, ...parsed(exposure, entry) };
}

export function readBinding(entry: PolicyEntry): Binding {
  return { tenant: entry.tenant, ...parsed(binding, entry) };
}

export function readDefault(entry: PolicyEntry): DefaultRule {
  return { tenant: entry.tenant, ...parsed(setting, entry) };
}

function parsed<T>(schema: z.ZodType<T>, entry: PolicyEntry): T {
  try {
    return schema.parse(JSON.parse(entry.value));
  } catch (cause) {
    throw unreadableRow(entry, cause);
  }
}

export function unreadableRow({ tenant, kind, key }: PolicyEntry, cause: unknown): GatewayError {
  const row = JSON.stringify({ tenant, kind, key });
  const message = `The row ${row} of the table "policy" cannot be read: a newer version of this program, or somebody else, has written it. Start that version, or remove the row from the database.`;
  return new GatewayError("STATE_UNAVAILABLE", { message, cause });
}

/** Settings of others stand beside ours: ours begin with this. */
export const DEFAULT_KEY = "default:";

/** The rows that say who may do what. */
export function accessRows(entriesOf: (kind: PolicyEntry["kind"]) => readonly PolicyEntry[]): readonly PolicyEntry[] {
  const settings = entriesOf("setting").filter(({ key }) => key.startsWith(DEFAULT_KEY));
  return [...entriesOf("grant"), ...entriesOf("binding"), ...entriesOf("exposure"), ...settings];
}

/** One policy of what the config says and what operators have set. Throws where a row cannot be read. */
export function joinPolicy(declared: AccessPolicy, rows: readonly PolicyEntry[]): AccessPolicy {
  const of = Map.groupBy(rows, ({ kind }) => kind);
  return {
    ...declared,
    grants: [...declared.grants, ...(of.get("grant") ?? []).map(readGrant)],
    bindings: [...declared.bindings, ...(of.get("binding") ?? []).map(readBinding)],
    exposures: [...declared.exposures, ...(of.get("exposure") ?? []).map(readExposure)],
    defaults: [...declared.defaults, ...(of.get("setting") ?? []).map(readDefault)],
  };
}
