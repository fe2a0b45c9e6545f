/** What operators have set, as it is kept: JSON of one of these forms for each entry. */
import * as z from "zod";
import type { PolicyEntry } from "../../contract/index.ts";
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

/** Throws where one of them is none of ours: nothing may be decided without what it says. */
export function readGrant({ tenant, value, updatedAt, updatedBy }: PolicyEntry): Grant {
  const { expiresAt, ...rest } = grant.parse(JSON.parse(value));
  return { tenant, ...rest, expiresAt, grantedBy: updatedBy, grantedAt: updatedAt };
}

export function readExposure({ tenant, value }: PolicyEntry): Exposure {
  return { tenant, ...exposure.parse(JSON.parse(value)) };
}

export function readBinding({ tenant, value }: PolicyEntry): Binding {
  return { tenant, ...binding.parse(JSON.parse(value)) };
}

export function readDefault({ tenant, value }: PolicyEntry): DefaultRule {
  return { tenant, ...setting.parse(JSON.parse(value)) };
}

/** Settings of others stand beside ours: ours begin with this. */
export const DEFAULT_KEY = "default:";

/** One policy of what the config says and what operators have set. */
export function joinPolicy(
  declared: AccessPolicy,
  entriesOf: (kind: PolicyEntry["kind"]) => readonly PolicyEntry[],
): AccessPolicy {
  const settings = entriesOf("setting").filter(({ key }) => key.startsWith(DEFAULT_KEY));
  return {
    ...declared,
    grants: [...declared.grants, ...entriesOf("grant").map(readGrant)],
    bindings: [...declared.bindings, ...entriesOf("binding").map(readBinding)],
    exposures: [...declared.exposures, ...entriesOf("exposure").map(readExposure)],
    defaults: [...declared.defaults, ...settings.map(readDefault)],
  };
}
