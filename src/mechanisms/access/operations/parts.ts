/** What every operation on the policy needs. */
import { createHash } from "node:crypto";
import * as z from "zod";
import {
  type AuditEvent,
  type AuditTrail,
  DEFAULT_TENANT,
  type Evidence,
  GatewayError,
  identityOf,
  type OperationContext,
  type PolicyChange,
  type PolicyEntry,
  type Principal,
  type Target,
  type TokenRows,
} from "../../../contract/index.ts";
import type { LiveAccess } from "../access.ts";
import type { LivePolicy } from "../live-policy.ts";
import { ANY } from "../policy.ts";
import { type NameUse, namesMeant } from "../shown-names.ts";
import { isPlatforms } from "../stored-policy.ts";
import { requireRoom } from "./room.ts";
import { seenBy } from "./seen-by.ts";

/** A primitive that is offered now. */
export type OfferedPrimitive = {
  readonly server: string;
  readonly kind: "tool" | "resource" | "template" | "prompt";
  /** The server's own name of it. */
  readonly name: string;
  /** What rules call it. */
  readonly dotted: string;
  /** As it stands in the list of everything: another name where two fall together, or names have no dots there. */
  readonly shown: string;
  readonly title?: string | undefined;
  readonly version?: string | undefined;
};

export type AccessOperationParts = {
  readonly access: LiveAccess;
  readonly policy: LivePolicy;
  readonly trail: () => AuditTrail;
  /** Everybody's time, in ms. */
  readonly now: () => number;
  /** Those that were given out here; unset: none are kept. */
  readonly tokens?: Pick<TokenRows, "list"> | undefined;
  readonly primitives: () => readonly OfferedPrimitive[];
  /** Whose yes every call of this waits for, and why; undefined: it waits for none. */
  readonly gateOf?:
    | ((target: Target) => { readonly reason: string; readonly evidence: Evidence } | undefined)
    | undefined;
  /** Whether there is a server of this id, wherever it may be now. */
  readonly hasServer: (id: string) => boolean;
  /** The server that a name in the list of everything belongs to, and its own name, whether it is offered or not. */
  readonly targetOf: (dotted: string) => { readonly server: string; readonly name: string } | undefined;
  /** Whether callers are asked who they are; if not, each is the local user. Unset: they are. */
  readonly knowsCallers?: (() => boolean) | undefined;
  /** How a primitive of a server is called in the list of everything, offered or not. */
  readonly dottedOf: (target: Target) => string;
};

const MAX_NAME = 256;

// biome-ignore lint/suspicious/noControlCharactersInRegex: what no name holds, and no database takes
const CONTROL = /[\x00-\x1f\x7f]/;
export const name = z
  .string()
  .min(1)
  .max(MAX_NAME)
  .refine((text) => !CONTROL.test(text), { error: "expected no control characters" });
export const offeredNow = z
  .boolean()
  .optional()
  .describe("Whether its server has something of this name now; unset: that cannot be told.");
export const orgId = name.describe("The tenant.");
export const protocol = z.enum(["mcp", "a2a", "*"]);

/** Whoever belongs to a tenant has to do with that one only. Throws NOT_ALLOWED. */
export function requireTenant(principal: Principal, tenant: string): void {
  const own = identityOf(principal).tenant;
  if (own === DEFAULT_TENANT || (own === tenant && tenant !== ANY)) return;
  throw new GatewayError("NOT_ALLOWED", { message: "This is another tenant's." });
}

/** Whoever is of the platform speaks with its word, also about a tenant: what that one says stands beside it. */
function isPlatformsWord(principal: Principal, tenant: string): boolean {
  return identityOf(principal).tenant === DEFAULT_TENANT && tenant !== DEFAULT_TENANT && tenant !== ANY;
}

/** Of a row of a tenant, as it is kept: with a key of its own where the platform says it. */
export function spokenBy<Value extends object>(
  principal: Principal,
  tenant: string,
  key: readonly string[],
  value: Value,
) {
  if (!isPlatformsWord(principal, tenant)) return { key: keyOf(key), value };
  return { key: keyOf([...key, "platform"]), value: { ...value, platform: true as const } };
}

/** Whose word it is. */
export const setBy = z.enum(["platform", "tenant"]);

export function setByOf(entry: PolicyEntry): z.output<typeof setBy> {
  return isPlatforms(entry) ? "platform" : "tenant";
}

/** Throws NOT_ALLOWED: what the platform has said about a tenant is not the tenant's to take back. */
export function requireOwnWord(principal: Principal, entry: PolicyEntry): void {
  if (identityOf(principal).tenant === DEFAULT_TENANT || !isPlatforms(entry)) return;
  throw new GatewayError("NOT_ALLOWED", { message: "The platform has set this. Only its operators may take it back." });
}

/** Throws BAD_CALL for a name that only lists have, among those `by` sees: what is said about it would be about nothing. */
export function requireKnownName(parts: AccessOperationParts, by: Principal, use: NameUse): void {
  const [meant] = namesMeant(use, seenBy(parts, by));
  if (meant !== undefined) throw misnamedFault(use.name, meant);
}

function misnamedFault(written: string, meant: string): GatewayError {
  const message = `Lists show ${JSON.stringify(written)}, but it is called ${JSON.stringify(meant)} here: what you say would be about nothing.`;
  return new GatewayError("BAD_CALL", { message, details: { meant } });
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

export type Edited = {
  readonly etag: string;
  readonly setBy: z.output<typeof setBy>;
  readonly updatedAt: string;
  readonly updatedBy: string;
};

/** Writes one entry, or takes it away, with the record of it. */
export async function edit(parts: AccessOperationParts, context: OperationContext, change: Edit): Promise<Edited> {
  const { policy, trail, now } = parts;
  const { tenant, kind, key, value, type, details, target = { server: "", name: "" } } = change;
  const { principal, ifMatch, traceId } = context;
  requireTenant(principal, tenant);
  const entry = { tenant, kind, key, updatedAt: now(), updatedBy: principal.id };
  const written: PolicyChange =
    value === undefined
      ? { table: "policy", type: "remove", tenant, kind, key }
      : { table: "policy", type: "put", entry: { ...entry, value: JSON.stringify(value) } };
  const isPlatformsOwn = identityOf(principal).tenant === DEFAULT_TENANT;
  const version = await policy.change({
    ...(value !== undefined && { check: () => requireRoom(policy, principal, change) }),
    // The platform waits behind nobody's.
    ...(!isPlatformsOwn && { turn: tenant }),
    trail: trail(),
    event: {
      ...{ type, tenant, target, details, result: "SUCCESS" },
      actor: { type: "operator", id: principal.id },
      ...(traceId !== undefined && { traceId }),
    },
    changes: [written],
    ...(ifMatch !== undefined && { ifVersion: versionOf(ifMatch) }),
  });
  return {
    etag: String(version),
    setBy: isPlatformsOwn ? "platform" : "tenant",
    updatedAt: isoTime(entry.updatedAt),
    updatedBy: entry.updatedBy,
  };
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
