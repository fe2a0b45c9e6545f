/** Who may do what to the gateway. */
import { DEFAULT_TENANT, identityOf, type Operation, type Principal, ROLES } from "../../contract/index.ts";
import { Refusal } from "./problem.ts";

/** Throws Refusal. `orgId`: the tenant that the path is about. */
export function checkRole({ role }: Operation, principal: Principal, orgId: string | undefined): void {
  if (role === "caller" || role === "anyone") return;
  const identity = identityOf(principal);
  const has = identity.role === undefined ? -1 : ROLES.indexOf(identity.role);
  if (has < ROLES.indexOf(role)) throw new Refusal(403, `This needs the role ${role}.`, { reason: "role" });
  // Whoever is of the platform's own tenant looks after all of them.
  if (orgId !== undefined && orgId !== identity.tenant && identity.tenant !== DEFAULT_TENANT) {
    throw new Refusal(403, "This is another tenant's.", { reason: "tenant" });
  }
}
