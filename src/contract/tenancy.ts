/** Whose things somebody may look after: a role counts in its bearer's own tenant, one of the default tenant everywhere. */
import { GatewayError } from "./error.ts";
import { DEFAULT_TENANT, identityOf, type Principal } from "./principal.ts";

const MAX_TENANT = 256;
/** Controls, what is not seen, and what stands for several elsewhere. */
const NO_TENANT = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}*]|^\p{Zs}|\p{Zs}$/u;

/** Whether this names one tenant: never all of them, and none that people would take for the platform's own. */
export function isTenantName(text: string): boolean {
  if (text === "" || text.length > MAX_TENANT || NO_TENANT.test(text)) return false;
  return text === DEFAULT_TENANT || text.normalize("NFKC").toLowerCase() !== DEFAULT_TENANT;
}

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
