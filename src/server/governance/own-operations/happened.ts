import { type AuditEvent, identityOf, type Principal } from "../../../contract/index.ts";

/** What an operator did to the gateway, for the trail. */
export function happened(
  type: AuditEvent["type"],
  principal: Principal,
  details: AuditEvent["details"],
  server = "",
): AuditEvent {
  return {
    type,
    tenant: identityOf(principal).tenant,
    actor: { type: "operator", id: principal.id },
    target: { server, name: "" },
    result: "SUCCESS",
    details,
  };
}
