/** Who may do what to the gateway. */
import {
  canChange,
  DEFAULT_TENANT,
  identityOf,
  isChange,
  type Operation,
  PROOF_WANTED,
  type Principal,
  ROLES,
} from "../../contract/index.ts";
import { Refusal } from "./problem.ts";

/** Throws Refusal. `orgId`: the tenant that the path is about. */
export function checkRole(operation: Operation, principal: Principal, orgId: string | undefined): void {
  const { role } = operation;
  if (role === "caller" || role === "anyone") return;
  const identity = identityOf(principal);
  const has = identity.role === undefined ? -1 : ROLES.indexOf(identity.role);
  if (has < ROLES.indexOf(role)) throw new Refusal(403, `This needs the role ${role}.`, { reason: "role" });
  if (isChange(operation) && !canChange(principal)) throw new Refusal(403, PROOF_WANTED, { reason: "proof" });
  // Whoever is of the platform's own tenant looks after all of them.
  if (orgId !== undefined && orgId !== identity.tenant && identity.tenant !== DEFAULT_TENANT) {
    throw new Refusal(403, "This is another tenant's.", { reason: "tenant" });
  }
}
