/** What the audit trail is told about approvals. Arguments stand in it by their digest alone. */
import type { ActorType, Approval, AuditEvent, AuditResult, AuditType } from "../../contract/index.ts";

export type Actor = { readonly type: ActorType; readonly id: string };

export const GATEWAY: Actor = { type: "kernel", id: "gateway" };

export function requester({ principal }: Approval): Actor {
  return { type: "agent", id: principal };
}

type Facts = {
  readonly type: AuditType;
  readonly actor: Actor;
  readonly result: AuditResult;
  readonly details?: Readonly<Record<string, unknown>>;
};

export function approvalEvent(approval: Approval, { type, actor, result, details }: Facts): AuditEvent {
  const { id, tenant, server, name, tool, calledAs, digest, reason, evidence, principal } = approval;
  const named = { tool, ...(calledAs !== "" && { calledAs }) };
  return {
    type,
    tenant,
    actor,
    target: { server, name },
    result,
    details: { approval: id, ...named, digest, reason, evidence, requester: principal, ...details },
  };
}

type RefusedFacts = {
  readonly actor: Actor;
  readonly tenant: string;
  readonly id: string;
  readonly why: string;
  /** How many of their attempts before this one are not on the trail. */
  readonly skipped: number;
};

/** Somebody tried to decide, and it does not count. `approval` unset: there is none that they could know. */
export function refusedEvent(approval: Approval | undefined, facts: RefusedFacts): AuditEvent {
  const { actor, tenant, id, skipped } = facts;
  const type = "dev.isthmus.approval.refused";
  const why = { why: facts.why, ...(skipped > 0 && { skipped }) };
  if (approval) return approvalEvent(approval, { type, actor, result: "DENIED", details: why });
  const details = { approval: id.slice(0, 64), ...why };
  return { type, tenant, actor, target: { server: "", name: "" }, result: "DENIED", details };
}
