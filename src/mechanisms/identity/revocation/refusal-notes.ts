import { type AuditTrail, DEFAULT_TENANT } from "../../../contract/index.ts";

const EVERY_MS = 1_000;

/** Signed messages that were refused, on the trail. Whoever is not known must not be able to fill it: one a second, with how many. */
export class RefusalNotes {
  readonly #trail: () => AuditTrail;
  readonly #now: () => number;
  #count = 0;
  #notedAt = Number.NEGATIVE_INFINITY;

  constructor(trail: () => AuditTrail, now: () => number) {
    this.#trail = trail;
    this.#now = now;
  }

  note(): void {
    this.#count++;
    const now = this.#now();
    if (now - this.#notedAt < EVERY_MS) return;
    this.#notedAt = now;
    this.#trail().note({
      type: "dev.isthmus.revocation.refused",
      tenant: DEFAULT_TENANT,
      actor: { type: "server", id: "" },
      target: { server: "", name: "" },
      result: "DENIED",
      details: { count: this.#count },
    });
    this.#count = 0;
  }
}
