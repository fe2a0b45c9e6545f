import { type AuditTrail, type Call, type GatewayError, identityOf, type Principal } from "../../contract/index.ts";

/** Somebody came back for a call that they may not make as they are known now: nothing of it was handed out. */
export function noteReturn(trail: AuditTrail, call: Call, by: Principal, { details }: GatewayError): void {
  const { tenant, user, client } = identityOf(by);
  const { target, method, origin, id } = call;
  const { source, reason, scopes } = details;
  trail.note({
    type: "TOOL_BLOCKED",
    tenant,
    actor: { type: "agent", id: by.id },
    target: { server: target.provider, name: target.name },
    result: "DENIED",
    details: { user, client, kind: target.kind, protocol: origin.front, method, call_id: id, source, reason, scopes },
  });
}
