/** What operators have set, as it is kept: JSON of one of these forms for each entry. */
import * as z from "zod";
import { DEFAULT_TENANT, GatewayError, type PolicyEntry } from "../../contract/index.ts";
import {
  type AccessPolicy,
  ANY,
  BINDING_TARGETS,
  type Binding,
  DEFAULT_POLICIES,
  type DefaultRule,
  type Exposure,
  type Grant,
  type TenantPolicy,
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

/** Set by an operator of the platform, about a tenant of others. */
const platform = z.literal(true).optional();

const exposure = z.lazy(() =>
  z.object({ platform, server: z.string(), protocol: z.string(), primitive: z.string(), enabled: z.boolean() }),
);

const binding = z.lazy(() =>
  z.object({
    platform,
    target: z.object({ type: z.enum(BINDING_TARGETS), pattern: z.string() }),
    primitive: z.string(),
    protocol: z.string(),
    allowed: z.boolean(),
  }),
);

const setting = z.lazy(() => z.object({ platform, server: z.string(), policy: z.enum(DEFAULT_POLICIES) }));

const grantIn = reader(grant);
const exposureIn = reader(exposure);
const bindingIn = reader(binding);
const settingIn = reader(setting);
const speakerIn = reader(z.lazy(() => z.object({ platform })));

export type StoredGrant = z.output<typeof grant>;
export type StoredExposure = z.output<typeof exposure>;
export type StoredBinding = z.output<typeof binding>;
export type StoredDefault = z.output<typeof setting>;

/** Throws STATE_UNAVAILABLE where one of them is none of ours: nothing may be decided without what it says. */
export function readGrant(entry: PolicyEntry): Grant {
  const { expiresAt, ...rest } = grantIn(entry);
  return { tenant: entry.tenant, ...rest, expiresAt, grantedBy: entry.updatedBy, grantedAt: entry.updatedAt };
}

export function readExposure(entry: PolicyEntry): Exposure {
  const { platform: _, ...said } = exposureIn(entry);
  return { tenant: entry.tenant, ...said };
}

export function readBinding(entry: PolicyEntry): Binding {
  const { platform: _, ...said } = bindingIn(entry);
  return { tenant: entry.tenant, ...said };
}

export function readDefault(entry: PolicyEntry): DefaultRule {
  const { platform: _, ...said } = settingIn(entry);
  return { tenant: entry.tenant, ...said };
}

/** Each row is read once: with every change of one, all of them are asked again. */
function reader<Value extends object>(schema: z.ZodType<Value>): (entry: PolicyEntry) => Value {
  const known = new WeakMap<PolicyEntry, Value>();
  return (entry) => {
    const before = known.get(entry);
    if (before) return before;
    try {
      const value = schema.parse(JSON.parse(entry.value));
      known.set(entry, value);
      return value;
    } catch (cause) {
      throw unreadableRow(entry, cause);
    }
  };
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

/** Who has said it: the platform, in its own tenant, for all of them or about one of them; else the tenant itself. */
export function isPlatforms(entry: PolicyEntry): boolean {
  if (entry.tenant === DEFAULT_TENANT || entry.tenant === ANY) return true;
  return entry.kind !== "grant" && speakerIn(entry).platform === true;
}

/** One policy of what the config says and what operators have set. Throws where a row cannot be read. */
export function joinPolicy(declared: AccessPolicy, rows: readonly PolicyEntry[]): AccessPolicy {
  const [platforms, tenants] = [rows.filter(isPlatforms), rows.filter((row) => !isPlatforms(row))];
  const set = readRows(platforms);
  return {
    ...declared,
    grants: [...declared.grants, ...set.grants],
    bindings: [...declared.bindings, ...set.bindings],
    exposures: [...declared.exposures, ...set.exposures],
    defaults: [...declared.defaults, ...set.defaults],
    tenants: new Map([...Map.groupBy(tenants, ({ tenant }) => tenant)].map(([id, own]) => [id, readRows(own)])),
  };
}

function readRows(rows: readonly PolicyEntry[]): TenantPolicy {
  const of = Map.groupBy(rows, ({ kind }) => kind);
  return {
    grants: (of.get("grant") ?? []).map(readGrant),
    bindings: (of.get("binding") ?? []).map(readBinding),
    exposures: (of.get("exposure") ?? []).map(readExposure),
    defaults: (of.get("setting") ?? []).map(readDefault),
  };
}
