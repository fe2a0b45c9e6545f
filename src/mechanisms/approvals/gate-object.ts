/** What a caller is told about a call that waits: MCP-AX's object, as data. */
import { type Approval, GatewayError, type Payload, payload, textOf } from "../../contract/index.ts";
import type { ProofType } from "./anchors.ts";
import { decidedText } from "./decided-text.ts";
import { pageName } from "./page-name.ts";

export type GateFacts = {
  readonly gateway: string;
  readonly proofTypes: readonly ProofType[];
  readonly now: number;
  /** Where people reach the pages of this gateway, without a slash at the end; unset: nowhere. */
  readonly pages?: string | undefined;
};

/** The page on which this one is decided; undefined where there is none. */
export function confirmUrl(approval: Approval, { pages }: GateFacts): string | undefined {
  return pages === undefined ? undefined : `${pages}/approvals/${pageName(approval)}`;
}

function gateObject(approval: Approval, facts: GateFacts) {
  const { gateway, proofTypes, now } = facts;
  const url = confirmUrl(approval, facts);
  return {
    status: "confirmation_required",
    confirmation_id: approval.id,
    tool: approval.tool,
    arguments: argumentsOf(approval),
    capability: JSON.parse(approval.capability) as unknown,
    route: approval.tool.split("."),
    gate_aggregator_id: gateway,
    reason: approval.reason,
    args_sha256: approval.digest,
    nonce: approval.nonce,
    expires_at: isoOf(approval.expiresAt),
    expires_in_ms: Math.max(0, approval.expiresAt - now),
    proof_types: proofTypes,
    ...(url !== undefined && { confirm_url: url }),
  };
}

/** What the call would be made with, as a value: numbers are as JavaScript reads them. */
function argumentsOf(approval: Approval): unknown {
  return payload(textOf(decidedText(approval))).value();
}

/** Whether a result says that the call waits for somebody's yes at a gateway behind us: it was not made. */
export function waitsBelow(result: Payload): boolean {
  const isWaiting = result.at(["_meta", "x-mcpax-gate", "status"]) === '"confirmation_required"';
  return isWaiting && result.at(["isError"]) === "true";
}

/** An approval with the page on which it is decided, as a client is asked to open it. */
export type PageToVisit = { readonly message: string; readonly elicitationId: string; readonly url: string };

export function pageToVisit({ id, tool }: Approval, url: string): PageToVisit {
  const message = `${tool} needs somebody's approval before it is called. Open this page to see what it would do, and to decide.`;
  return { message, elicitationId: id, url };
}

/** The error that a caller gets who was not kept waiting any longer. `page`: for one that must open it by itself. */
export function confirmationRequired(approval: Approval, facts: GateFacts, page?: PageToVisit): GatewayError {
  const { tool, expiresAt, id } = approval;
  const who = approval.evidence === "external_proof" ? "an external authority" : "an operator";
  const message = `confirmation_required: ${tool} needs approval by ${who} before ${isoOf(expiresAt)} (confirmation_id ${id}).`;
  const details = { gate: gateObject(approval, facts), ...(page && { visit: { mode: "url", ...page } }) };
  return new GatewayError("CONFIRMATION_REQUIRED", { message, details });
}

/** An approval as people and operators are shown it. */
export function shownApproval(approval: Approval, facts: GateFacts) {
  const { tenant, principal, user, server, evidence, state, decidedBy, createdAt } = approval;
  const { status: _waiting, ...gate } = gateObject(approval, facts);
  return {
    ...gate,
    /** The very text that the digest is of: whoever decides is shown this one. */
    arguments_text: decidedText(approval),
    state,
    server,
    requester: { principal, user, tenant },
    evidence,
    created_at: new Date(createdAt).toISOString(),
    decided_by: decidedBy,
  };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");
}
