/** How a yes or a no comes to an approval: by proof, by an operator, or from the user of the session that asked for it. */
import {
  type Approval,
  type AuditTrail,
  type ConfirmAnswer,
  type Confirmations,
  type ConfirmOrder,
  type Evidence,
  identityOf,
  isEnough,
  isMadeBy,
  isSameCaller,
  type Meter,
  type Principal,
} from "../../contract/index.ts";
import { NoteBudget } from "../audit/index.ts";
import type { Anchors } from "./anchors.ts";
import { type Actor, refusedEvent } from "./approval-events.ts";
import { type Approvals, DEFINITION_CHANGED } from "./approvals.ts";
import { type FindOffered, hasOtherDefinition } from "./definition.ts";
import { checkProof, type Proved } from "./proof.ts";
import type { ApprovalWatch } from "./watch.ts";

/** How long whoever decides is kept waiting to hear that the call was made. */
const MADE_MS = 1_000;

export type DeciderOptions = {
  readonly approvals: Approvals;
  readonly watch: ApprovalWatch;
  readonly trail: AuditTrail;
  readonly meter: Meter;
  readonly anchors: () => Anchors;
  readonly gateway: () => Promise<string>;
  readonly offered: FindOffered;
  readonly now: () => number;
};

type Decision = "approve" | "deny";
type Refused = ConfirmAnswer & { type: "refused" };

/** Somebody tries to decide. */
type Attempt = {
  readonly id: string;
  readonly tenant: string;
  readonly actor: Actor;
  /** What they may know of it. */
  readonly approval: Approval | undefined;
};

type Word = {
  readonly decision: Decision;
  readonly given: Evidence;
  /** Whose word it is, where it is not a signature. */
  readonly decider?: Principal;
  readonly details?: Readonly<Record<string, unknown>>;
  /** Whether to wait until the call is made; unset: it is. */
  readonly isAwaited?: boolean;
};

export class Decider implements Confirmations {
  readonly #options: DeciderOptions;
  readonly #budget: NoteBudget;

  constructor(options: DeciderOptions) {
    this.#options = options;
    this.#budget = new NoteBudget(options);
  }

  async confirm(principal: Principal, { id, decision, proof }: ConfirmOrder): Promise<ConfirmAnswer> {
    const attempt = await this.#attempt(principal, id, { type: "agent", id: principal.id });
    const closed = await this.#closed(attempt.approval);
    if (closed || !attempt.approval) return this.#refuse(attempt, closed ?? UNKNOWN);
    const proved = await this.#prove(attempt.approval, decision, proof);
    if ("refused" in proved) return this.#refuse(attempt, invalid(proved.refused));
    const { by, jti, thumbprint } = proved;
    const details = { jti, key: thumbprint, proof: proof?.type, broughtBy: principal.id };
    const actor: Actor = { type: "operator", id: by };
    return await this.#decide({ ...attempt, actor }, { decision, given: "external_proof", details });
  }

  /** An operator that the gateway knows says so. */
  async decideAs(principal: Principal, id: string, decision: Decision): Promise<ConfirmAnswer> {
    const attempt = await this.#attempt(principal, id, { type: "operator", id: principal.id });
    const closed = await this.#closed(attempt.approval);
    if (closed || !attempt.approval) return this.#refuse(attempt, closed ?? UNKNOWN);
    const problem = operatorProblem(principal, attempt.approval, decision);
    if (problem) return this.#refuse(attempt, invalid(problem));
    return await this.#decide(attempt, { decision, given: "operator", decider: namesOf(principal) });
  }

  /** Why this principal's word would not count; undefined: it would. */
  wordProblem(principal: Principal, approval: Approval, decision: Decision): WordProblem | undefined {
    return operatorProblem(principal, approval, decision);
  }

  /** Somebody tried in a way that cannot be known to be theirs: it counts for nothing, and is put on record. */
  async turnDown(principal: Principal, id: string, why: string): Promise<void> {
    this.#refuse(await this.#attempt(principal, id, { type: "agent", id: principal.id }), invalid(why));
  }

  /** The user before the client that made the call was asked, and has answered. */
  async decideInSession(principal: Principal, approval: Approval, decision: Decision): Promise<ConfirmAnswer> {
    const actor: Actor = { type: "user", id: principal.id };
    const attempt: Attempt = { id: approval.id, tenant: approval.tenant, actor, approval };
    if (decision === "approve" && !isEnough("session_user", approval.evidence)) {
      return this.#refuse(attempt, invalid("evidence_too_weak"));
    }
    // Whoever asked waits for this very answer, and makes the call when it has it.
    const word = { decision, given: "session_user", decider: namesOf(principal) } as const;
    return await this.#decide(attempt, { ...word, isAwaited: false });
  }

  /** Nobody knows anything of other tenants' calls. */
  async #attempt(principal: Principal, id: string, actor: Actor): Promise<Attempt> {
    const { tenant } = identityOf(principal);
    const found = await this.#options.approvals.get(id);
    return { id, tenant, actor, approval: found?.tenant === tenant ? found : undefined };
  }

  async #prove(approval: Approval, decision: Decision, proof: ConfirmOrder["proof"]): Promise<Proved> {
    if (!proof) return { refused: "missing_proof" };
    if (proof.format !== "jws") return { refused: "unknown_format" };
    const { anchors, gateway, now } = this.#options;
    return checkProof({
      jws: proof.value,
      approval,
      decision,
      anchors: anchors().of(proof.type, approval),
      gateway: await gateway(),
      now: now(),
    });
  }

  async #closed(approval: Approval | undefined): Promise<Refused | undefined> {
    if (!approval) return UNKNOWN;
    if (approval.state === "expired") return EXPIRED;
    if (approval.state !== "waiting") return used(approval);
    if (!this.#options.approvals.isOver(approval)) return undefined;
    await this.#options.approvals.expire(approval);
    return EXPIRED;
  }

  async #decide(
    attempt: Attempt,
    { decision, given, decider, details, isAwaited = true }: Word,
  ): Promise<ConfirmAnswer> {
    const { approvals, watch } = this.#options;
    const { approval, actor } = attempt;
    if (!approval) return this.#refuse(attempt, UNKNOWN);
    if (decision === "approve" && hasOtherDefinition(approval, this.#options.offered)) {
      await approvals.revoke(approval, DEFINITION_CHANGED);
      return this.#refuse(attempt, OTHER_DEFINITION);
    }
    const to = decision === "approve" ? "approved" : "denied";
    const mayBeMade = isAwaited && (watch.count(approval.id) > 0 || watch.hasOthers);
    const connection = watch.connection(approval.id);
    const step = { to, actor, by: actor.id, given, decider, ...(details && { details }) } as const;
    if (!(await approvals.move(approval, step))) {
      // Somebody else was faster.
      return this.#refuse(attempt, (await this.#closed(await approvals.get(approval.id))) ?? UNKNOWN);
    }
    if (to === "denied") await approvals.denyAlike(approval, { actor, by: actor.id, given });
    if (to === "denied" || !mayBeMade) return { type: "decided", status: to };
    const made = watch.change({ ...approval, state: "approved" }, MADE_MS);
    const present = await approvals.get(approval.id);
    const seen = present?.state === "approved" ? await made : present;
    return seen?.state === "consumed"
      ? { type: "decided", status: "dispatched", ...(connection && { connection }) }
      : { type: "decided", status: "approved" };
  }

  #refuse({ approval, actor, tenant, id }: Attempt, refused: Refused): ConfirmAnswer {
    this.#options.meter.count("isthmus_approvals_total", "refused");
    // Whoever has the link to a call may try as often as they like.
    const skipped = this.#budget.take(`${actor.id} ${approval?.id ?? ""}`);
    if (skipped === undefined) return refused;
    this.#options.trail.note(refusedEvent(approval, { actor, tenant, id, why: refused.reason, skipped }));
    return refused;
  }
}

/** As much of somebody as blocks are about, for as long as their yes is open. */
function namesOf(principal: Principal): Principal {
  const { tenant, user, client, proof, tokenHash, twinHash, makerNames } = identityOf(principal);
  const hashes = { ...(tokenHash !== undefined && { tokenHash }), ...(twinHash !== undefined && { twinHash }) };
  const none = { groups: [], scopes: [], role: undefined };
  return {
    id: principal.id,
    identity: { tenant, user, client, proof, ...none, ...hashes, ...(makerNames && { makerNames }) },
  };
}

export type WordProblem =
  | "not_an_operator"
  | "own_principal"
  | "made_by_requester"
  | "not_proved"
  | "evidence_too_weak";

/** Whoever asks for a call may deny it, but not approve it; for either they must be known by more than being able to connect. */
function operatorProblem(principal: Principal, approval: Approval, decision: Decision): WordProblem | undefined {
  const { role, user, client, proof, makers = [] } = identityOf(principal);
  if (role !== "operator" && role !== "admin") return "not_an_operator";
  // Whoever can connect is local: also the agent, though it has shown a token when it made the call.
  const isUnproved = proof === "local" || proof === "none";
  if (decision === "deny") return isUnproved ? "not_proved" : undefined;
  if (isSameCaller({ principal: principal.id, user, client }, approval)) return "own_principal";
  // Whoever made the token, or what it was made with, may have kept it.
  if (isMadeBy({ makers }, approval)) return "made_by_requester";
  if (isUnproved) return "not_proved";
  return isEnough("operator", approval.evidence) ? undefined : "evidence_too_weak";
}

const UNKNOWN: Refused = { type: "refused", message: "confirmation_unknown", reason: "unknown" };
const EXPIRED: Refused = { type: "refused", message: "confirmation_expired", reason: "expired" };

/** What was asked about is not what would be called. */
const OTHER_DEFINITION: Refused = { type: "refused", message: "confirmation_expired", reason: "definition_changed" };

function used({ state }: Approval): Refused {
  return { type: "refused", message: "confirmation_unknown", reason: `already_${state}` };
}

function invalid(reason: string): Refused {
  return { type: "refused", message: "confirmation_proof_invalid", reason };
}
