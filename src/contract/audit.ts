import type { Change } from "./change.ts";
import type { Principal } from "./principal.ts";

/** What has happened, in MGP's words, as data. The names of custom events are reverse-domain ones. */
export const AUDIT_TYPES = [
  "TOOL_EXECUTED",
  "TOOL_BLOCKED",
  "PERMISSION_GRANTED",
  "PERMISSION_DENIED",
  "PERMISSION_REVOKED",
  "ACCESS_GRANTED",
  "ACCESS_REVOKED",
  "SERVER_CONNECTED",
  "SERVER_DISCONNECTED",
  "VALIDATION_FAILED",
  "CODE_REJECTED",
  "dev.isthmus.approval.consumed",
  "dev.isthmus.approval.expired",
  "dev.isthmus.approval.refused",
  "dev.isthmus.approval.requested",
  "dev.isthmus.approval.withdrawn",
  "dev.isthmus.audit.cut_back",
  "dev.isthmus.audit.gap",
  "dev.isthmus.authentication_failed",
  "dev.isthmus.call.cancelled",
  "dev.isthmus.call.lost",
  "dev.isthmus.call.read",
  "dev.isthmus.catalog.changed",
  "dev.isthmus.catalog.removed",
  "dev.isthmus.config.reloaded",
  "dev.isthmus.consent_refused",
  "dev.isthmus.limits.replaced",
  "dev.isthmus.policy_changed",
  "dev.isthmus.request_refused",
  "dev.isthmus.revocation.added",
  "dev.isthmus.revocation.refused",
  "dev.isthmus.revocation.removed",
  "dev.isthmus.server.changed",
  "dev.isthmus.server.removed",
  "dev.isthmus.session.ended",
  "dev.isthmus.task.cancelled",
  "dev.isthmus.task.ended",
  "dev.isthmus.task.read",
  "dev.isthmus.token_created",
  "dev.isthmus.token_revoked",
  "dev.isthmus.upstream_token_removed",
  "dev.isthmus.upstream_token_stored",
] as const;
export type AuditType = (typeof AUDIT_TYPES)[number];

export type AuditResult = "SUCCESS" | "FAILURE" | "BLOCKED" | "DENIED" | "PENDING";
export type ActorType = "agent" | "user" | "operator" | "server" | "kernel";

export type AuditEvent = {
  readonly type: AuditType;
  readonly tenant: string;
  readonly actor: { readonly type: ActorType; readonly id: string };
  /** The server and the primitive it was about; "" where it was about none. */
  readonly target: { readonly server: string; readonly name: string };
  readonly result: AuditResult;
  /** A UUID; made where nobody gave one. */
  readonly traceId?: string;
  /** Never a secret, and never an argument's value unless a rule of the operator's says so. */
  readonly details: Readonly<Record<string, unknown>>;
};

/** The one trail of everything. */
export interface AuditTrail {
  /** Something has happened. It outlives this process when this returns. */
  note(event: AuditEvent): void;
  /**
   * Something was decided: the record of it is written together with what it changes, or neither is. False as with
   * `Records.write`. Rejects with STATE_UNAVAILABLE: then nothing is decided.
   */
  commit(event: AuditEvent, changes: readonly Change[]): Promise<boolean>;
}

/** A caller was told that nobody knows how its call ended: the process that made it is gone, and has noted nothing. */
export type LostAnswer = {
  readonly principal: Principal;
  readonly method: string;
  /** As far as it is known. */
  readonly target: AuditEvent["target"];
  readonly traceId?: string | undefined;
  readonly taskId?: string;
};

/** A caller was given the result of a task, or of a call whose stream it had lost, after it was asked for. */
export type ResultReading = {
  readonly principal: Principal;
  readonly method: string;
  readonly target: AuditEvent["target"];
  readonly of: { readonly taskId: string } | { readonly callId: string };
  /** Its provider had an error for an answer. */
  readonly isFailure?: true;
  readonly address?: string | undefined;
};

/** For whoever keeps no trail: changes are written all the same. */
export function untracked(write: (changes: readonly Change[]) => Promise<boolean>): AuditTrail {
  return { note: () => undefined, commit: (_event, changes) => write(changes) };
}
