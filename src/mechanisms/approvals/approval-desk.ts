/**
 * Where somebody comes with the link to one call that waits: what they are shown, and what they may do. Whoever has the link
 * may look, because it cannot be guessed; it decides nothing by itself.
 */
import {
  type Approval,
  type ConfirmAnswer,
  type ConfirmOrder,
  canonicalJson,
  identityOf,
  type Principal,
  payload,
  textOf,
} from "../../contract/index.ts";
import type { Approvals } from "./approvals.ts";
import type { Decider } from "./decide.ts";
import { type GateFacts, shownApproval } from "./gate-object.ts";

export type ApprovalDeskOptions = {
  readonly approvals: Approvals;
  readonly decider: Decider;
  readonly facts: () => Promise<GateFacts>;
  /** Where people reach the pages of this gateway, without a slash at the end; undefined: nowhere. */
  readonly pages: () => string | undefined;
};

export type Visit = {
  readonly approval: ReturnType<typeof shownApproval>;
  /** What the call would be made with, in the form that the digest is of: no number is spelled otherwise than in the call. */
  readonly argumentsText: string;
  /** What this visitor may decide without a proof, by who they are. */
  readonly may: { readonly approve: boolean; readonly deny: boolean };
};

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export class ApprovalDesk {
  readonly #options: ApprovalDeskOptions;

  constructor(options: ApprovalDeskOptions) {
    this.#options = options;
  }

  get pages(): string | undefined {
    return this.#options.pages();
  }

  /** Undefined: there is nothing that this visitor could decide, for whatever reason. Rejects with STATE_UNAVAILABLE. */
  async visit(principal: Principal, id: string): Promise<Visit | undefined> {
    const { approvals, decider, facts } = this.#options;
    const found = await this.#find(principal, id);
    if (found?.state !== "waiting" || approvals.isOver(found)) return undefined;
    return {
      approval: shownApproval(found, await facts()),
      argumentsText: canonicalJson(payload(textOf(found.input)).at(["arguments"]) ?? "{}"),
      may: {
        approve: decider.mayDecide(principal, found, "approve"),
        deny: decider.mayDecide(principal, found, "deny"),
      },
    };
  }

  /**
   * By the proof that was brought, else by who has come. Undefined: somebody unknown has come to nothing, of which nothing is
   * put on record here, because everybody can do that as often as they like. Rejects with STATE_UNAVAILABLE.
   */
  async decide(principal: Principal, order: ConfirmOrder): Promise<ConfirmAnswer | undefined> {
    const { decider } = this.#options;
    const visitor = await this.#visitorOf(principal, order.id);
    if (!visitor) return undefined;
    return order.proof
      ? await decider.confirm(visitor, order)
      : await decider.decideAs(visitor, order.id, order.decision);
  }

  /** What was sent does not come from our own page. False: it was sent to nothing, as above. */
  async turnDown(principal: Principal, id: string, why: string): Promise<boolean> {
    const visitor = await this.#visitorOf(principal, id);
    if (visitor) await this.#options.decider.turnDown(visitor, id, why);
    return visitor !== undefined;
  }

  /** Whoever is known sees what their tenant has asked for. */
  async #find(principal: Principal, id: string): Promise<Approval | undefined> {
    const found = ID.test(id) ? await this.#options.approvals.get(id) : undefined;
    return isUnknown(principal) || found?.tenant === identityOf(principal).tenant ? found : undefined;
  }

  /** Somebody unknown, who brings a proof, comes for the tenant that the link is of. */
  async #visitorOf(principal: Principal, id: string): Promise<Principal | undefined> {
    if (!isUnknown(principal)) return principal;
    const found = await this.#find(principal, id);
    return found && { ...principal, identity: { ...identityOf(principal), tenant: found.tenant } };
  }
}

function isUnknown(principal: Principal): boolean {
  return identityOf(principal).proof === "none";
}
