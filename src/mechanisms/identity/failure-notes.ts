/** Puts failed authentications on record, and keeps whoever fails often from filling the trail. */
import {
  type AuditTrail,
  type Clock,
  DEFAULT_TENANT,
  type GatewayError,
  type HttpRequest,
} from "../../contract/index.ts";
import { refusalOf } from "./refusal.ts";

/** So many at once, and one more with each pause; the next one tells how many were left out. */
const BURST = 100;
const PAUSE_MS = 200;
const MAX_PATH = 200;

export class FailureNotes {
  readonly #trail: AuditTrail;
  readonly #clock: Clock;
  #left = BURST;
  #filledAt: number;
  #skipped = 0;

  constructor(trail: AuditTrail, clock: Clock) {
    this.#trail = trail;
    this.#clock = clock;
    this.#filledAt = clock.now();
  }

  /** Nothing that was shown is in it: neither a token nor what stands behind the path. */
  note(request: HttpRequest, error: GatewayError): void {
    const reason = refusalOf(error);
    if (reason === undefined) return;
    if (!this.#take()) {
      this.#skipped++;
      return;
    }
    const skipped = this.#skipped;
    this.#skipped = 0;
    const path = request.url.split("?", 1)[0] ?? "";
    this.#trail.note({
      type: "dev.isthmus.authentication_failed",
      tenant: DEFAULT_TENANT,
      actor: { type: "agent", id: "unknown" },
      target: { server: "", name: "" },
      result: "DENIED",
      details: {
        reason,
        method: request.method,
        path: path.slice(0, MAX_PATH),
        address: request.peer?.address ?? "",
        ...(skipped > 0 && { skipped }),
      },
    });
  }

  #take(): boolean {
    const filled = Math.floor((this.#clock.now() - this.#filledAt) / PAUSE_MS);
    if (filled > 0) {
      this.#filledAt += filled * PAUSE_MS;
      this.#left = Math.min(BURST, this.#left + filled);
    }
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }
}
