import { type AuditTrail, DEFAULT_TENANT } from "../../../contract/index.ts";
import { OAuthFault } from "./oauth-fault.ts";
import type { Passage } from "./tickets.ts";

/** Anybody can send answers that belong to nothing: in a minute so many are noted. */
const MAX_STRANGE = 60;
const MINUTE_MS = 60_000;

/** What the audit trail hears of answers that were not taken. */
export class ConsentNotes {
  readonly #audit: Pick<AuditTrail, "note">;
  readonly #now: () => number;
  #strange = 0;
  #since = 0;

  constructor(audit: Pick<AuditTrail, "note">, now: () => number) {
    this.#audit = audit;
    this.#now = now;
  }

  /** `passage`: unset where nobody knows what the answer belongs to. */
  refused(passage: Passage | undefined, error: unknown): void {
    if (!passage && this.#isTooMuch()) return;
    const { tenant = DEFAULT_TENANT, user = "" } = passage?.holder ?? {};
    this.#audit.note({
      type: "dev.isthmus.consent_refused",
      tenant,
      actor: { type: "user", id: user || "unknown" },
      target: { server: passage?.server ?? "", name: "" },
      result: "DENIED",
      details: { reason: error instanceof OAuthFault ? error.message : "the gateway failed" },
    });
  }

  #isTooMuch(): boolean {
    const now = this.#now();
    if (now - this.#since >= MINUTE_MS) [this.#since, this.#strange] = [now, 0];
    return ++this.#strange > MAX_STRANGE;
  }
}
