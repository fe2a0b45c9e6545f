/** Sessions that hear of the audit trail: an agent of what it did itself, whoever may read the trail of its whole tenant. */
import { type ErrorCode, hasRole, identityOf, type Principal, payload, textOf } from "../../../contract/index.ts";
import { type KeptEvent, readEvent } from "../../../mechanisms/audit/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import { notificationText } from "../../../wire/jsonrpc/index.ts";
import { negotiate } from "../../../wire/mgp/index.ts";
import type { MgpPorts } from "./mgp-ports.ts";

const METHOD = "notifications/mgp.audit";
const READ_SCOPE = "audit:read";
const CONCEALING: ErrorCode = "NO_SUCH_TARGET";
/** Each event costs as much as there are sessions that hear it: of one caller's, and of all, only the newest ones do. */
const MOST_OF_ONE = 32;
const MOST = 1_000;

export class AuditListeners {
  readonly #mgp: MgpPorts | undefined;
  /** In the order in which they came. */
  readonly #sessions = new Set<Session>();
  #stop: (() => void) | undefined;

  constructor(mgp: MgpPorts | undefined) {
    this.#mgp = mgp;
  }

  /** A session is open here. It is followed if its client wants to hear. */
  add(session: Session): void {
    const mgp = this.#mgp;
    if (!mgp || session.isEnded || negotiate(session.capabilities, mgp.offered())?.includes("audit") !== true) return;
    this.#makeRoom(session.principal);
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

  #makeRoom({ id }: Principal): void {
    const own = [...this.#sessions].filter(({ principal }) => principal.id === id);
    if (own.length >= MOST_OF_ONE) this.#sessions.delete(own[0] as Session);
    if (this.#sessions.size >= MOST) this.#sessions.delete([...this.#sessions][0] as Session);
  }

  #hear(lines: readonly string[]): void {
    // Nothing is kept for those who do not listen: the trail itself has it.
    const open = [...this.#sessions].filter(({ outbox }) => outbox?.isOpen === true);
    if (open.length === 0) return;
    for (const line of lines) {
      const event = readEvent(line);
      const listeners = event ? open.filter(({ principal }) => isFor(principal, event)) : [];
      if (listeners.length === 0) continue;
      const text = notificationText(METHOD, payload(textOf(line)));
      for (const { outbox } of listeners) outbox?.push({ type: "log", text });
    }
  }
}

function isFor(principal: Principal, { actor, details }: KeptEvent): boolean {
  const { tenant, scopes } = identityOf(principal);
  if (tenant !== details.tenant) return false;
  if (hasRole(principal, "viewer") || scopes.includes(READ_SCOPE)) return true;
  // Whoever was told that there is no such thing is not told here that there is.
  const isConcealed = details.concealed === true || details.code === CONCEALING;
  return actor.id === principal.id && !isConcealed;
}
