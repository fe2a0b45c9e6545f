/** How much can be said about who may do what: all of it is in memory, and is looked through for every new caller of its tenant. */
import { DEFAULT_TENANT, GatewayError, identityOf, type PolicyEntry, type Principal } from "../../../contract/index.ts";
import type { LivePolicy } from "../live-policy.ts";
import { accessRows, isPlatforms } from "../stored-policy.ts";

/** Of one kind and tenant, by whoever is of the platform. */
const MAX_OF_PLATFORM = 10_000;
/** Of all kinds together, by a tenant's own people: what one tenant says takes time of the process that serves all. */
const MAX_OF_TENANT = 1_000;

type Row = Pick<PolicyEntry, "tenant" | "kind" | "key">;

/** Throws OVERLOADED where this would be one more, and one too many. */
export function requireRoom(policy: LivePolicy, principal: Principal, row: Row): void {
  const isOfPlatform = identityOf(principal).tenant === DEFAULT_TENANT;
  const present = isOfPlatform ? platformsRoom(policy, row) : tenantsRoom(policy, row);
  const most = isOfPlatform ? MAX_OF_PLATFORM : MAX_OF_TENANT;
  if (present.length < most || present.some(({ kind, key }) => kind === row.kind && key === row.key)) return;
  throw new GatewayError("OVERLOADED", { message: isOfPlatform ? PLATFORM_IS_FULL : TENANT_IS_FULL });
}

function platformsRoom(policy: LivePolicy, { tenant, kind }: Row): readonly PolicyEntry[] {
  return policy.entries(kind).filter((entry) => entry.tenant === tenant);
}

/** What the platform has said about the tenant takes no room of it. */
function tenantsRoom(policy: LivePolicy, { tenant }: Row): readonly PolicyEntry[] {
  const own = accessRows((kind) => policy.entries(kind).filter((entry) => entry.tenant === tenant));
  return own.filter((entry) => !isPlatforms(entry));
}

const PLATFORM_IS_FULL = `A tenant has at most ${MAX_OF_PLATFORM} of these; remove some.`;
const TENANT_IS_FULL = `A tenant has at most ${MAX_OF_TENANT} grants, bindings, switches and default policies of its own together. Remove some; one that names a group, or has a * in it, says as much as many.`;
