import { type AuditTrail, DEFAULT_TENANT } from "../../../contract/index.ts";
import { OAuthFault } from "./oauth-fault.ts";
import type { Passage, Ticket } from "./tickets.ts";

/** Anybody can send answers that belong to nothing, and open a link again and again: in a minute so many of each are noted. */
const MAX_REPEATED = 60;
const MINUTE_MS = 60_000;

/** What the audit trail hears of answers and links that were not taken. */
export class ConsentNotes {
  readonly #audit: Pick<AuditTrail, "note">;
  readonly #now: () => number;
  readonly #counts = { strange: 0, links: 0 };
  #since = 0;

  constructor(audit: Pick<AuditTrail, "note">, now: () => number) {
    this.#audit = audit;
    this.#now = now;
  }

  /** `passage`: unset where nobody knows what the answer belongs to. */
  refused(passage: Passage | undefined, error: unknown): void {
    if (passage || !this.#isTooMuch("strange")) this.#note(passage, error);
  }

  /** A link that is good, of somebody who is not any more. */
  linkRefused(ticket: Ticket, error: unknown): void {
    if (!this.#isTooMuch("links")) this.#note(ticket, error);
  }

  #note(about: Passage | Ticket | undefined, error: unknown): void {
    const { tenant = DEFAULT_TENANT, user = "" } = about?.holder ?? {};
    this.#audit.note({
      type: "dev.isthmus.consent_refused",
      tenant,
      actor: { type: "user", id: user || "unknown" },
      target: { server: about?.server ?? "", name: "" },
      result: "DENIED",
      details: { reason: error instanceof OAuthFault ? error.message : "the gateway failed" },
    });
  }

  #isTooMuch(what: "strange" | "links"): boolean {
    const now = this.#now();
    if (now - this.#since >= MINUTE_MS) {
      this.#since = now;
      Object.assign(this.#counts, { strange: 0, links: 0 });
    }
    return ++this.#counts[what] > MAX_REPEATED;
  }
}
