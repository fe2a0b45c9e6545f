/** Puts on record what was turned away before it became a call. */
import {
  type AuditTrail,
  type Clock,
  DEFAULT_TENANT,
  identityOf,
  type NoteRefusal,
  type RefusedMessage,
} from "../../contract/index.ts";
import { NoteBudget } from "./note-budget.ts";
import { plainAddress, plainPath, redactText } from "./redact.ts";

export function noteRefusals(trail: AuditTrail, clock: Clock): NoteRefusal {
  const budget = new NoteBudget(clock);
  return function note({ reason, principal, address = "", path = "", name = "" }: RefusedMessage) {
    const skipped = budget.take(`${reason} ${address} ${principal?.id ?? ""}`);
    if (skipped === undefined) return;
    trail.note({
      type: "dev.isthmus.request_refused",
      tenant: principal ? identityOf(principal).tenant : DEFAULT_TENANT,
      actor: { type: "agent", id: principal?.id ?? "unknown" },
      // Names are the caller's words, and anything may be in them.
      target: { server: "", name: redactText(plainAddress(name)) },
      result: "DENIED",
      details: {
        reason,
        address,
        path: plainPath(path),
        ...(skipped > 0 && { skipped }),
      },
    });
  };
}
