import { type AuditTrail, identityOf, type LostAnswer } from "../../contract/index.ts";
import type { TaskFacts } from "../../mechanisms/runs/index.ts";
import type { Config } from "../config/index.ts";

/**
 * A call whose process died has no event of its own, though it may have been made: what is on record of it is that its caller
 * was told so.
 */
export function noteLost(trail: AuditTrail, { plain }: Pick<Config["audit"], "plain">): (lost: LostAnswer) => void {
  return ({ principal, method, target, traceId, taskId }) => {
    if (plain !== "all") return;
    const { tenant, user, client } = identityOf(principal);
    trail.note({
      type: "dev.isthmus.call.lost",
      tenant,
      actor: { type: "agent", id: principal.id },
      target,
      result: "FAILURE",
      ...(traceId !== undefined && { traceId }),
      details: { user, client, method, code: "OUTCOME_UNKNOWN", ...(taskId !== undefined && { task_id: taskId }) },
    });
  };
}

export function lostTask({ id, principal, target }: TaskFacts): LostAnswer {
  const called = { server: target?.provider ?? "", name: target?.name ?? "" };
  return { principal, method: "tools/call", target: called, taskId: id };
}
