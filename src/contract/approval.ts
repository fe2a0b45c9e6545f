import type { AskedBy } from "./asked-by.ts";
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
  /** What is called: the server, its own name for the tool, and the one that rules have for it, which nobody renames. */
  readonly server: string;
  readonly name: string;
  readonly tool: string;
  /** By what name, where that is another one; "" where it is not, or nobody knows. */
  readonly calledAs: string;
  /** SHA-256 of all params but the progress token in their canonical form, as base64url; of a call that has nothing but arguments, of these. */
  readonly digest: string;
  /** The params as they came, as an ordinary string: what is sent are always these. */
  readonly input: string;
  /** What makes another call the same question, whoever in its tenant asks. */
  readonly key: string;
  /** Of what the tool said of itself when it was asked for; "" where it said nothing. */
  readonly definition: string;
  /** The policy under which it was asked for: under another one it is worth nothing. */
  readonly policyVersion: string;
  /** Why it is asked for: `irreversible_mutable`, say. */
  readonly reason: string;
  /** What the tool says about itself, as JSON. */
  readonly capability: string;
  readonly evidence: Evidence;
  readonly nonce: string;
  readonly createdAt: number;
  /** Until when it is open; of one that was denied, until when that holds for the same call. */
  readonly expiresAt: number;
  readonly state: ApprovalState;
  /** Who has brought it into this state, and by which evidence; "" and "none" where it waits. */
  readonly decidedBy: string;
  readonly given: Evidence;
  /** Whose word that is, by all that blocks are about; undefined: a signature, or nobody has decided. */
  readonly decider: Principal | undefined;
};

/** `reason` of an approval, for people. */
const REASONS: Readonly<Record<string, string>> = {
  irreversible_mutable: "the tool says that what it does cannot be taken back",
  undeclared: "the tool does not say whether what it does can be taken back",
  confirmation_required: "the tool asks for somebody's confirmation",
  rule: "a rule of the config or of an operator wants a yes",
};

/** Why a call waits, for people. */
export function reasonText(reason: string): string {
  return REASONS[reason] ?? reason;
}

/** Whose yes counts, for people. `hasKeys`: whether the gateway trusts a key that could sign one. */
export function evidenceText(evidence: string, hasKeys: boolean): string {
  const signed = hasKeys ? ", or a proof that is signed with a key which this gateway trusts" : "";
  if (evidence === "external_proof") return "a proof, signed with a key that this gateway trusts";
  if (evidence === "operator") return `the word of an operator${signed}`;
  if (evidence === "session_user") return `the word of the user before the client or of an operator${signed}`;
  return evidence;
}

/** Of a call whose client has gone, for whoever decides about it. Clients may come back for answers. */
export const NOBODY_THERE =
  "closed: nobody is there for the answer unless its client comes back. With a yes the call is made all the same.";

const OUTCOMES: Readonly<Record<string, string>> = {
  dispatched: "Approved: the call was made.",
  approved: "Approved: the call is made when the caller makes it again.",
  denied: "Denied: the call is not made.",
};

/** What has become of a call that somebody has decided about, for them. */
export function decidedOutcome(status: string, connection?: string): string {
  if (status === "dispatched" && connection === "open")
    return "Approved: the caller was waiting, and the call was made.";
  const gone = "Nobody was there for its answer: the connection of its caller is closed.";
  const outcome = OUTCOMES[status] ?? status;
  return status === "dispatched" && connection === "closed" ? `${outcome} ${gone}` : outcome;
}

/** What must be written so that somebody can give this evidence, for people. `program`: as it is called. */
export function approverAdvice(evidence: string, program = "isthmus"): string {
  const key = `"${program} operator init" prints the [[gate.anchors]] that trust your key`;
  return evidence === "external_proof"
    ? `${key}; or write evidence = "operator" under [gate]`
    : `${key}; or set [auth] tokens = true`;
}

/** What stands in place of the params of an approval that is over: of them only the digest is kept. */
export const NO_INPUT = "{}";

/** waiting and approved are open. */
export function isOpen({ state }: Pick<Approval, "state">): boolean {
  return state === "waiting" || state === "approved";
}

/** People say it one at a time: calls that others ask for and end themselves do not push it out. */
export function isLastingNo({ state, given }: Pick<Approval, "state" | "given">): boolean {
  return state === "denied" && given !== "session_user";
}

export type ApprovalChange = {
  readonly table: "approval";
} /** Missed where one with its open key is open. `openKey`: unset, the key of the approval. */ & (
  | { readonly type: "open"; readonly approval: Approval; readonly openKey?: string }
  /** Missed where it is in another state, or was asked for under another policy, or its time is over (or, to expire it, is not). With its end its input is gone. */
  | {
      readonly type: "move";
      readonly id: string;
      readonly from: ApprovalState;
      readonly to: ApprovalState;
      readonly now: number;
      readonly by: string;
      readonly given: Evidence;
      readonly decider?: Principal | undefined;
      readonly policyVersion?: string;
      /** Until when a no holds. */
      readonly until?: number;
    }
);

/** Which approvals are meant; what is unset is not asked for. */
export type ApprovalFilter = {
  readonly tenant?: string | undefined;
  /** open: those that wait, and those that are approved. */
  readonly state?: ApprovalState | "open" | undefined;
  readonly user?: string | undefined;
  readonly principal?: string | undefined;
  /** How the id begins. */
  readonly idStart?: string | undefined;
};

export type ApprovalPage = ApprovalFilter & {
  /** With `idStart`, any so many. */
  readonly limit: number;
  /** Callers take turns: the newest of each (of a user, else of a principal), then the second of each. Unset: the newest first, whoever asks. */
  readonly inTurns?: boolean;
};

/** Of params, so many characters are in a list: many that are long would hold up everybody. */
export const MAX_LISTED_INPUT = 4_096;

/** As a list has it: its params are in it as far as they are not long. */
export type ListedApproval = Omit<Approval, "input"> & {
  /** The params, up to `MAX_LISTED_INPUT` characters. */
  readonly beginning: string;
  /** How many there are of all of them. */
  readonly characters: number;
};

export interface ApprovalRows {
  get(id: string): Promise<Approval | undefined>;
  /** The states of those of these that there are: at most a few hundred. */
  states(ids: readonly string[]): Promise<ReadonlyMap<string, ApprovalState>>;
  /** The one that was opened with this key, and is open. */
  find(openKey: string): Promise<Approval | undefined>;
  /** The one of this key that was denied to this one last, as `isAskedBy` has it, where that still holds. */
  denied(key: string, by: AskedBy, now: number): Promise<Approval | undefined>;
  /** The ids of those of this key that wait and that this one has asked for, as `isAskedBy` has it. */
  waiting(key: string, by: AskedBy): Promise<readonly string[]>;
  list(page: ApprovalPage): Promise<readonly ListedApproval[]>;
  count(filter: ApprovalFilter): Promise<number>;
  /** Those that are open though their time is over. */
  overdue(now: number, limit: number): Promise<readonly Approval[]>;
  /**
   * Forgets those that ended before, and of all that ended those that came before the last `most`; but no call of an operator's no
   * makes room for others.
   */
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
  | {
      readonly type: "decided";
      readonly status: "dispatched" | "approved" | "denied";
      /** Of the caller, when it was decided. */
      readonly connection?: CallerConnection | undefined;
    }
  | {
      readonly type: "refused";
      readonly message: "confirmation_unknown" | "confirmation_expired" | "confirmation_proof_invalid";
      readonly reason: string;
    };

/** closed: each call that waits for it has lost its client, and would be made without anybody there for its answer. Unset: nobody here knows. */
export type CallerConnection = "open" | "closed";

/** Where people and authorities say yes or no to a call that waits. */
export interface Confirmations {
  /** `principal` only brings it: what counts is the proof. Rejects with STATE_UNAVAILABLE. */
  confirm(principal: Principal, order: ConfirmOrder): Promise<ConfirmAnswer>;
}
