import type { Evidence } from "./decision.ts";
import type { Principal } from "./principal.ts";

/**
 * waiting: nobody has decided. approved: the call may be made once, until it expires. consumed: it was made, or was about to be
 * when its process died: it is never made again. The others end it without a call.
 */
export const APPROVAL_STATES = ["waiting", "approved", "denied", "expired", "withdrawn", "consumed"] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** A call that somebody must say yes to, and what has become of that. Times are everybody's, in ms. */
export type Approval = {
  readonly id: string;
  readonly tenant: string;
  /** Who calls: the principal's id, and what is known of it. */
  readonly principal: string;
  readonly user: string;
  readonly client: string;
  /** What is called: the server, its own name for the tool, and the name that the caller used. */
  readonly server: string;
  readonly name: string;
  readonly tool: string;
  /** SHA-256 of the canonical arguments, of what is no tool or prompt of all params but `_meta`, as base64url. */
  readonly digest: string;
  /** The params as they came, as an ordinary string: what is sent are always these. */
  readonly input: string;
  /** What makes another call the same one. Of one key at most one is open. */
  readonly key: string;
  /** The policy under which it was asked for: under another one it is worth nothing. */
  readonly policyVersion: string;
  /** Why it is asked for: `irreversible_mutable`, say. */
  readonly reason: string;
  /** What the tool says about itself, as JSON. */
  readonly capability: string;
  readonly evidence: Evidence;
  readonly nonce: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly state: ApprovalState;
  /** Who has brought it into this state, and by which evidence; "" and "none" where it waits. */
  readonly decidedBy: string;
  readonly given: Evidence;
};

/** What stands in place of the params of an approval that is over: of them only the digest is kept. */
export const NO_INPUT = "{}";

/** waiting and approved are open. */
export function isOpen({ state }: Pick<Approval, "state">): boolean {
  return state === "waiting" || state === "approved";
}

export type ApprovalChange = { readonly table: "approval" } /** Missed where one of its key is open. */ & (
  | { readonly type: "open"; readonly approval: Approval }
  /** Missed where it is in another state, or was asked for under another policy, or its time is over (or, to expire it, is not). With its end its input is gone. */
  | {
      readonly type: "move";
      readonly id: string;
      readonly from: ApprovalState;
      readonly to: ApprovalState;
      readonly now: number;
      readonly by: string;
      readonly given: Evidence;
      readonly policyVersion?: string;
    }
);

export type ApprovalFilter = {
  readonly tenant?: string | undefined;
  readonly state?: ApprovalState | undefined;
  readonly limit: number;
};

export interface ApprovalRows {
  get(id: string): Promise<Approval | undefined>;
  /** The states of those of these that there are: at most a few hundred. */
  states(ids: readonly string[]): Promise<ReadonlyMap<string, ApprovalState>>;
  /** The one of this key that is open. */
  find(key: string): Promise<Approval | undefined>;
  /** Newest first. */
  list(filter: ApprovalFilter): Promise<readonly Approval[]>;
  /** How many of this principal's are open. */
  count(principal: string): Promise<number>;
  /** Those that are open though their time is over. */
  overdue(now: number, limit: number): Promise<readonly Approval[]>;
  /** Forgets those that ended before, and of all that ended those that came before the last `most`. */
  forget(before: number, most: number): Promise<void>;
  /** The id of this gateway, the same in all its processes: proofs are made out to it. */
  gateway(): Promise<string>;
}

/** What a confirmation brings. `proof`: a JWS of an authority outside the caller. */
export type ConfirmOrder = {
  readonly id: string;
  readonly decision: "approve" | "deny";
  readonly proof?: { readonly type: string; readonly format: string; readonly value: string };
};

export type ConfirmAnswer =
  /** dispatched: a call that waited was made. approved: it is made when it is asked for again. */
  | { readonly type: "decided"; readonly status: "dispatched" | "approved" | "denied" }
  | {
      readonly type: "refused";
      readonly message: "confirmation_unknown" | "confirmation_expired" | "confirmation_proof_invalid";
      readonly reason: string;
    };

/** Where people and authorities say yes or no to a call that waits. */
export interface Confirmations {
  /** `principal` only brings it: what counts is the proof. Rejects with STATE_UNAVAILABLE. */
  confirm(principal: Principal, order: ConfirmOrder): Promise<ConfirmAnswer>;
}
