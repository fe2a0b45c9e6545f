/** What a caller is told about a call that waits: MCP-AX's object, as data. */
import { type Approval, GatewayError, payload, textOf } from "../../contract/index.ts";
import type { ProofType } from "./anchors.ts";

export type GateFacts = { readonly gateway: string; readonly proofTypes: readonly ProofType[]; readonly now: number };

export function gateObject(approval: Approval, { gateway, proofTypes, now }: GateFacts) {
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
  };
}

/** What the call would be made with, as a value. */
function argumentsOf({ input }: Approval): unknown {
  const text = payload(textOf(input)).at(["arguments"]);
  return text === undefined ? {} : payload(text).value();
}

/** The error that a caller gets who was not kept waiting any longer. */
export function confirmationRequired(approval: Approval, facts: GateFacts): GatewayError {
  const { tool, expiresAt, id } = approval;
  const who = approval.evidence === "external_proof" ? "an external authority" : "an operator";
  const message = `confirmation_required: ${tool} needs approval by ${who} before ${isoOf(expiresAt)} (confirmation_id ${id}).`;
  return new GatewayError("CONFIRMATION_REQUIRED", { message, details: { gate: gateObject(approval, facts) } });
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");
}
