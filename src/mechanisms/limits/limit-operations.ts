/** What operators do about the limits of a tenant. */
import * as z from "zod";
import {
  type AuditTrail,
  GatewayError,
  type Operation,
  type OperationContext,
  type PolicyEntry,
  type Principal,
} from "../../contract/index.ts";
import type { LivePolicy, NameUse } from "../access/index.ts";
import { operation, schemaOf } from "../schemas/index.ts";
import { type TenantLimit, tenantLimits } from "./limit-schema.ts";
import { listKeyOf, readList, writeList } from "./tenant-limits.ts";

export type LimitOperationsOptions = {
  readonly policy: LivePolicy;
  readonly trail: () => AuditTrail;
  /** Everybody's time, in ms. */
  readonly now: () => number;
  /** Throws BAD_CALL for a name that only lists have. */
  readonly requireName: (by: Principal, use: NameUse) => void;
};

const orgId = z.string().min(1).max(256);
const PATH = "/api/ratelimits/orgs/{orgId}";

export function limitOperations({ policy, trail, now, requireName }: LimitOperationsOptions): readonly Operation[] {
  const listOf = (tenant: string, principal: Principal): readonly TenantLimit[] => {
    const list = listKeyOf(principal, tenant);
    const row = policy.entries("limit").find((entry) => entry.tenant === tenant && entry.key === list);
    return row === undefined ? [] : readList(row);
  };

  async function replace(tenant: string, limits: readonly TenantLimit[], by: OperationContext): Promise<number> {
    const entry: PolicyEntry = {
      tenant,
      kind: "limit",
      key: listKeyOf(by.principal, tenant),
      value: writeList(limits),
      updatedAt: now(),
      updatedBy: by.principal.id,
    };
    return await policy.change({
      trail: trail(),
      event: {
        type: "dev.isthmus.limits.replaced",
        tenant,
        actor: { type: "operator", id: by.principal.id },
        target: { server: "", name: "" },
        result: "SUCCESS",
        details: { limits: limits.length },
      },
      changes: [{ table: "policy", type: "put", entry }],
      ifVersion: versionIn(by.ifMatch),
    });
  }

  return [
    operation({
      id: "ratelimits.get",
      method: "GET",
      path: PATH,
      summary:
        "The limits that a tenant has beside those of the config: its own, or for operators of the platform those that they have set for it",
      role: "viewer",
      input: schemaOf(z.strictObject({ orgId })),
      output: schemaOf(tenantLimits),
      run: async ({ orgId: tenant }, { principal }) => ({
        body: [...listOf(tenant, principal)],
        etag: String(policy.version),
      }),
    }),
    operation({
      id: "ratelimits.put",
      method: "PUT",
      path: PATH,
      summary:
        "Replaces these limits as a whole; what was taken from those that stay is not given back. What the platform sets stands beside what the tenant sets",
      role: "admin",
      input: schemaOf(z.strictObject({ orgId, body: tenantLimits })),
      output: schemaOf(tenantLimits),
      async run({ orgId: tenant, body }, context) {
        for (const { selector } of body)
          requireName(context.principal, { server: selector.server, name: selector.primitive ?? "" });
        const version = await replace(tenant, body, context);
        return { body, etag: String(version) };
      },
    }),
  ];
}

function versionIn(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined) return undefined;
  if (/^\d{1,15}$/.test(ifMatch)) return Number(ifMatch);
  throw new GatewayError("CONFLICT", {
    message: "If-Match names a version that the limits never had. Read them again.",
  });
}
