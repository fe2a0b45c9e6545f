/** Sessions that hear of the audit trail: an agent of what it did itself, whoever may read the trail of its whole tenant. */
import { type ErrorCode, hasRole, identityOf, type Principal, payload, textOf } from "../../../contract/index.ts";
import type { Session, SessionRegistry } from "../../../mechanisms/sessions/index.ts";
import { notificationText } from "../../../wire/jsonrpc/index.ts";
import { negotiate } from "../../../wire/mgp/index.ts";
import type { MgpPorts } from "./mgp-ports.ts";

const METHOD = "notifications/mgp.audit";
const READ_SCOPE = "audit:read";
const CONCEALING: ErrorCode = "NO_SUCH_TARGET";

/** What an event is told by. */
type Told = {
  readonly actor: { readonly id: string };
  readonly details: { readonly tenant: string; readonly code?: string; readonly concealed?: boolean };
};

export class AuditListeners {
  readonly #mgp: MgpPorts | undefined;
  readonly #outboxes: Pick<SessionRegistry, "outboxOf">;
  readonly #sessions = new Set<Session>();
  #stop: (() => void) | undefined;

  constructor(mgp: MgpPorts | undefined, outboxes: Pick<SessionRegistry, "outboxOf">) {
    this.#mgp = mgp;
    this.#outboxes = outboxes;
  }

  /** A session is open here. It is followed if its client wants to hear. */
  add(session: Session): void {
    const mgp = this.#mgp;
    if (!mgp || negotiate(session.capabilities, mgp.offered())?.includes("audit") !== true) return;
    this.#sessions.add(session);
    this.#stop ??= mgp.trail.listen((lines) => this.#hear(lines));
  }

  /** It is over, or goes on elsewhere. */
  remove(session: Session): void {
    if (this.#sessions.delete(session) && this.#sessions.size === 0) this.close();
  }

  /** Safe to call twice. */
  close(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  #hear(lines: readonly string[]): void {
    for (const line of lines) {
      const told = JSON.parse(line) as Told;
      const listeners = [...this.#sessions].filter(({ principal }) => isFor(principal, told));
      if (listeners.length === 0) continue;
      const text = notificationText(METHOD, payload(textOf(line)));
      for (const session of listeners) this.#outboxes.outboxOf(session).push({ type: "log", text });
    }
  }
}

function isFor(principal: Principal, { actor, details }: Told): boolean {
  const { tenant, scopes } = identityOf(principal);
  if (tenant !== details.tenant) return false;
  if (hasRole(principal, "viewer") || scopes.includes(READ_SCOPE)) return true;
  // Whoever was told that there is no such thing is not told here that there is.
  const isConcealed = details.concealed === true || details.code === CONCEALING;
  return actor.id === principal.id && !isConcealed;
}
