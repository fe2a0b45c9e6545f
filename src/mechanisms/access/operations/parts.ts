/** What every operation on the policy needs. */
import { createHash } from "node:crypto";
import * as z from "zod";
import {
  type AuditEvent,
  type AuditTrail,
  DEFAULT_TENANT,
  GatewayError,
  identityOf,
  type OperationContext,
  type PolicyChange,
  type PolicyEntry,
  type Principal,
} from "../../../contract/index.ts";
import type { LiveAccess } from "../access.ts";
import type { LivePolicy } from "../live-policy.ts";

/** A primitive that is offered now. */
export type OfferedPrimitive = {
  readonly server: string;
  readonly kind: "tool" | "resource" | "template" | "prompt";
  /** The server's own name of it. */
  readonly name: string;
  /** As it stands in the list of everything. */
  readonly dotted: string;
  readonly title?: string | undefined;
  readonly version?: string | undefined;
};

export type AccessOperationParts = {
  readonly access: LiveAccess;
  readonly policy: LivePolicy;
  readonly trail: () => AuditTrail;
  /** Everybody's time, in ms. */
  readonly now: () => number;
  readonly primitives: () => readonly OfferedPrimitive[];
  /** The server that a name in the list of everything belongs to, and its own name, whether it is offered or not. */
  readonly targetOf: (dotted: string) => { readonly server: string; readonly name: string } | undefined;
  /** How a primitive of a server is called in the list of everything, offered or not. */
  readonly dottedOf: (target: { readonly provider: string; readonly kind: "tool"; readonly name: string }) => string;
};

const MAX_NAME = 256;
/** Of one kind and tenant. */
const MAX_ENTRIES = 10_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: what no name holds, and no database takes
const CONTROL = /[\x00-\x1f\x7f]/;
export const name = z
  .string()
  .min(1)
  .max(MAX_NAME)
  .refine((text) => !CONTROL.test(text), { error: "expected no control characters" });
export const orgId = name.describe("The tenant.");
export const protocol = z.enum(["mcp", "a2a", "*"]);

/** Whoever belongs to a tenant has to do with that one only. Throws NOT_ALLOWED. */
export function requireTenant(principal: Principal, tenant: string): void {
  const own = identityOf(principal).tenant;
  if (own === DEFAULT_TENANT || own === tenant) return;
  throw new GatewayError("NOT_ALLOWED", { message: "This is another tenant's." });
}

export function entriesOf({ policy }: AccessOperationParts, tenant: string, kind: PolicyEntry["kind"]) {
  return policy.entries(kind).filter((entry) => entry.tenant === tenant);
}

/** For whoever takes it away: another process may have set it a moment ago. Rejects where the store cannot be asked. */
export async function isThere(
  parts: AccessOperationParts,
  { tenant, kind, key }: Pick<PolicyEntry, "tenant" | "kind" | "key">,
): Promise<boolean> {
  const has = () => entriesOf(parts, tenant, kind).some((entry) => entry.key === key);
  if (has()) return true;
  await parts.policy.catchUp();
  return has();
}

export type Edit = {
  readonly tenant: string;
  readonly kind: PolicyEntry["kind"];
  readonly key: string;
  /** Undefined: it is taken away. */
  readonly value: object | undefined;
  readonly type: AuditEvent["type"];
  readonly target?: AuditEvent["target"];
  readonly details: AuditEvent["details"];
};

export type Edited = { readonly etag: string; readonly updatedAt: string; readonly updatedBy: string };

/** Writes one entry, or takes it away, with the record of it. */
export async function edit(parts: AccessOperationParts, context: OperationContext, change: Edit): Promise<Edited> {
  const { policy, trail, now } = parts;
  const { tenant, kind, key, value, type, details, target = { server: "", name: "" } } = change;
  const { principal, ifMatch, traceId } = context;
  requireTenant(principal, tenant);
  if (value !== undefined) requireRoom(parts, change);
  const entry = { tenant, kind, key, updatedAt: now(), updatedBy: principal.id };
  const written: PolicyChange =
    value === undefined
      ? { table: "policy", type: "remove", tenant, kind, key }
      : { table: "policy", type: "put", entry: { ...entry, value: JSON.stringify(value) } };
  const version = await policy.change({
    trail: trail(),
    event: {
      ...{ type, tenant, target, details, result: "SUCCESS" },
      actor: { type: "operator", id: principal.id },
      ...(traceId !== undefined && { traceId }),
    },
    changes: [written],
    ...(ifMatch !== undefined && { ifVersion: versionOf(ifMatch) }),
  });
  return { etag: String(version), updatedAt: isoTime(entry.updatedAt), updatedBy: entry.updatedBy };
}

function requireRoom(parts: AccessOperationParts, { tenant, kind, key }: Edit): void {
  const present = entriesOf(parts, tenant, kind);
  if (present.length < MAX_ENTRIES || present.some((entry) => entry.key === key)) return;
  throw new GatewayError("OVERLOADED", { message: `A tenant has at most ${MAX_ENTRIES} of these; remove some.` });
}

/** What is no number is no version: it is never the present one. */
function versionOf(tag: string): number {
  return /^\d{1,15}$/.test(tag) ? Number(tag) : -1;
}

/** One key for the same things, which no spelling of them can make equal to others. */
export function keyOf(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 22);
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
