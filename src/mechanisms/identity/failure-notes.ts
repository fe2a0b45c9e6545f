/** Puts failed authentications on record, and keeps whoever fails often from filling the trail. */
import {
  type AuditTrail,
  type Clock,
  DEFAULT_TENANT,
  type GatewayError,
  type HttpRequest,
  type Log,
} from "../../contract/index.ts";
import { NoteBudget, plainPath } from "../audit/index.ts";
import { refusalOf, scopesIn } from "./refusal.ts";

/** The log has one line about one reason and address, and one more with each minute: the trail has all that there is room for. */
const LOGGED = { burst: 1, pauseMs: 60_000 };

export class FailureNotes {
  readonly #trail: AuditTrail;
  readonly #budget: NoteBudget;
  readonly #log: Log;
  readonly #lines: NoteBudget;

  constructor(trail: AuditTrail, clock: Clock, log: Log) {
    this.#trail = trail;
    this.#budget = new NoteBudget(clock);
    this.#log = log;
    this.#lines = new NoteBudget(clock, LOGGED);
  }

  /** Nothing that was shown is in it: neither a token, also not in the path, nor what stands behind that. */
  note(request: HttpRequest, error: GatewayError): void {
    const reason = reasonOf(error);
    if (reason === undefined) return;
    const address = request.clientAddress ?? request.peer?.address ?? "";
    const path = plainPath(request.url);
    const untold = this.#lines.take(`${reason} ${address}`);
    if (untold !== undefined)
      this.#log.info("credentials refused", { reason, address, path, ...(untold > 0 && { untold }) });
    const skipped = this.#budget.take(`${reason} ${address}`);
    if (skipped === undefined) return;
    this.#trail.note({
      type: "dev.isthmus.authentication_failed",
      tenant: DEFAULT_TENANT,
      actor: { type: "agent", id: "unknown" },
      target: { server: "", name: "" },
      result: "DENIED",
      details: {
        reason,
        method: request.method,
        path,
        address,
        ...(skipped > 0 && { skipped }),
      },
    });
  }
}

/** Undefined for a defect of ours: that is nothing that somebody tried. */
function reasonOf(error: GatewayError): string | undefined {
  if (error.code === "STATE_UNAVAILABLE") return "unavailable";
  return refusalOf(error) ?? (scopesIn(error).length > 0 ? "scope" : undefined);
}
