/** Sessions that hear of the audit trail: an agent of what it did itself, whoever may read the trail of its whole tenant. */
import {
  DEFAULT_TENANT,
  type ErrorCode,
  hasRole,
  identityOf,
  jsonText,
  type Principal,
  payload,
  textOf,
} from "../../../contract/index.ts";
import { type KeptEvent, readEvent } from "../../../mechanisms/audit/index.ts";
import { type Session, Shares } from "../../../mechanisms/sessions/index.ts";
import { notificationText } from "../../../wire/jsonrpc/index.ts";
import { negotiate } from "../../../wire/mgp/index.ts";
import { passesLevel } from "../log-level.ts";
import type { MgpPorts } from "./mgp-ports.ts";

const METHOD = "notifications/mgp.audit";
const READ_SCOPE = "audit:read";
const CONCEALING: ErrorCode = "NO_SUCH_TARGET";
/**
 * Each event costs as much as there are sessions that hear it: of one user's, of one tenant's and of all, only the newest
 * ones do. No tenant's take the place of those of the platform's own.
 */
const MOST_OF_ONE = 32;
const MOST = 1_000;
const DROPPED =
  "This session hears of the audit trail no more: too many others of its user or tenant, or of all, do. Open another session to hear again.";

export class AuditListeners {
  readonly #mgp: MgpPorts | undefined;
  /** In the order in which they came, with whose place each has. */
  readonly #sessions = new Map<Session, Principal>();
  readonly #shares = new Shares(MOST, MOST_OF_ONE);
  #stop: (() => void) | undefined;

  constructor(mgp: MgpPorts | undefined) {
    this.#mgp = mgp;
  }

  /** A session is open here. It is followed if its client wants to hear. */
  add(session: Session): void {
    const mgp = this.#mgp;
    if (!mgp || session.isEnded || negotiate(session.capabilities, mgp.offered())?.includes("audit") !== true) return;
    const { principal } = session;
    if (this.#sessions.has(session)) return;
    this.#makeRoom(principal);
    this.#sessions.set(session, principal);
    this.#shares.take(principal);
    this.#stop ??= mgp.trail.listen((lines) => this.#hear(lines));
  }

  /** It is over, or goes on elsewhere. */
  remove(session: Session): void {
    const principal = this.#sessions.get(session);
    if (!principal) return;
    this.#sessions.delete(session);
    this.#shares.giveBack(principal);
    if (this.#sessions.size === 0) this.close();
  }

  /** Safe to call twice. */
  close(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  #makeRoom(newcomer: Principal): void {
    for (let spent = this.#shares.spent(newcomer); spent; spent = this.#shares.spent(newcomer)) {
      const share = spent;
      if (!this.#dropOldest((principal) => this.#shares.isOf(share, principal))) break;
    }
    if (this.#sessions.size < MOST) return;
    const isTenants = (principal: Principal) => identityOf(principal).tenant !== DEFAULT_TENANT;
    if (!this.#dropOldest(isTenants)) this.#dropOldest(() => true);
  }

  #dropOldest(isMeant: (principal: Principal) => boolean): boolean {
    for (const [session, principal] of this.#sessions) {
      if (!isMeant(principal)) continue;
      this.remove(session);
      tellDropped(session);
      return true;
    }
    return false;
  }

  #hear(lines: readonly string[]): void {
    // Nothing is kept for those who do not listen: the trail itself has it.
    const open = [...this.#sessions.keys()].flatMap(({ outbox }) => {
      const { listener } = outbox ?? {};
      return outbox && listener ? [{ outbox, listener }] : [];
    });
    if (open.length === 0) return;
    for (const line of lines) {
      const event = readEvent(line);
      const listeners = event ? open.filter(({ listener }) => isFor(listener, event)) : [];
      if (listeners.length === 0) continue;
      const text = notificationText(METHOD, payload(textOf(line)));
      for (const { outbox } of listeners) outbox.push({ type: "log", text });
    }
  }
}

/** Whoever only listens would take the silence for peace. */
function tellDropped(session: Session): void {
  const notice = payload(jsonText({ level: "warning", logger: "isthmus", data: DROPPED }));
  if (passesLevel(session, notice))
    session.outbox?.push({ type: "log", text: notificationText("notifications/message", notice) });
  session.outbox?.hangUp();
}

function isFor(principal: Principal, { actor, details }: KeptEvent): boolean {
  const { tenant, scopes, isForEndpoints } = identityOf(principal);
  if (tenant !== details.tenant) return false;
  // A token for single endpoints is not one for the trail of all, whatever its scopes are.
  if (!isForEndpoints && (hasRole(principal, "viewer") || scopes.includes(READ_SCOPE))) return true;
  // Whoever was told that there is no such thing is not told here that there is.
  const isConcealed = details.concealed === true || details.code === CONCEALING;
  return actor.id === principal.id && !isConcealed;
}
