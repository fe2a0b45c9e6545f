/** What operators do about the limits of a tenant. */
import * as z from "zod";
import {
  type AuditTrail,
  GatewayError,
  type Operation,
  type OperationContext,
  type PolicyEntry,
} from "../../contract/index.ts";
import type { LivePolicy } from "../access/index.ts";
import { operation, schemaOf } from "../schemas/index.ts";
import { type TenantLimit, tenantLimits } from "./limit-schema.ts";
import { LIST_KEY, readList, writeList } from "./tenant-limits.ts";

export type LimitOperationsOptions = {
  readonly policy: LivePolicy;
  readonly trail: () => AuditTrail;
  /** Everybody's time, in ms. */
  readonly now: () => number;
};

const orgId = z.string().min(1).max(256);
const PATH = "/api/ratelimits/orgs/{orgId}";

export function limitOperations({ policy, trail, now }: LimitOperationsOptions): readonly Operation[] {
  const listOf = (tenant: string): readonly TenantLimit[] => {
    const row = policy.entries("limit").find((entry) => entry.tenant === tenant && entry.key === LIST_KEY);
    return row === undefined ? [] : readList(row);
  };

  async function replace(tenant: string, limits: readonly TenantLimit[], by: OperationContext): Promise<number> {
    const entry: PolicyEntry = {
      tenant,
      kind: "limit",
      key: LIST_KEY,
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
      summary: "The limits that a tenant has beside those of the config",
      role: "viewer",
      input: schemaOf(z.strictObject({ orgId })),
      output: schemaOf(tenantLimits),
      run: async ({ orgId: tenant }) => ({ body: [...listOf(tenant)], etag: String(policy.version) }),
    }),
    operation({
      id: "ratelimits.put",
      method: "PUT",
      path: PATH,
      summary: "Replaces the limits of a tenant as a whole; what was taken from those that stay is not given back",
      role: "admin",
      input: schemaOf(z.strictObject({ orgId, body: tenantLimits })),
      output: schemaOf(tenantLimits),
      async run({ orgId: tenant, body }, context) {
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
