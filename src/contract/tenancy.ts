/** Whose things somebody may look after: a role counts in its bearer's own tenant, one of the default tenant everywhere. */
import { GatewayError } from "./error.ts";
import { DEFAULT_TENANT, identityOf, type Principal } from "./principal.ts";

/** The one tenant that this caller may look into; undefined: all of them. */
export function tenantOf(principal: Principal): string | undefined {
  const { tenant } = identityOf(principal);
  return tenant === DEFAULT_TENANT ? undefined : tenant;
}

export function isSeenBy(owner: Principal, looking: string | undefined): boolean {
  return looking === undefined || identityOf(owner).tenant === looking;
}

/** For what is not a tenant's: throws NOT_ALLOWED. */
export function requirePlatform(principal: Principal): void {
  if (tenantOf(principal) === undefined) return;
  throw new GatewayError("NOT_ALLOWED", { message: "Only operators of the platform may do this." });
}
