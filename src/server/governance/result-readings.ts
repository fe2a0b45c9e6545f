import { type AuditTrail, type Clock, identityOf, type ResultReading } from "../../contract/index.ts";
import { NoteBudget } from "../../mechanisms/audit/index.ts";
import type { Config } from "../config/index.ts";

/** Results that were handed out later, where calls are on record; those of one again and again are counted. */
export function noteReadings(
  trail: AuditTrail,
  clock: Clock,
  { plain }: Pick<Config["audit"], "plain">,
): (reading: ResultReading) => void {
  const budget = new NoteBudget(clock);
  return ({ principal, method, target, of, isFailure, address = "" }) => {
    if (plain !== "all") return;
    const isTask = "taskId" in of;
    const skipped = budget.take(`${isTask ? of.taskId : of.callId} ${principal.id}`);
    if (skipped === undefined) return;
    const { tenant, user, client } = identityOf(principal);
    const named = isTask ? { task_id: of.taskId } : { call_id: of.callId };
    trail.note({
      type: isTask ? "dev.isthmus.task.read" : "dev.isthmus.call.read",
      tenant,
      actor: { type: "agent", id: principal.id },
      target,
      result: isFailure ? "FAILURE" : "SUCCESS",
      details: { user, client, method, ...named, address, ...(skipped > 0 && { skipped }) },
    });
  };
}
