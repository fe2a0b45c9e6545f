/** Approvals for operators: what waits, and their yes or no. */
import * as z from "zod";
import {
  APPROVAL_STATES,
  type Approval,
  type ConfirmAnswer,
  GatewayError,
  identityOf,
  isOpen,
  type Operation,
  type OperationContext,
} from "../../contract/index.ts";
import { operation, schemaOf } from "../schemas/index.ts";
import type { Approvals } from "./approvals.ts";
import type { Decider } from "./decide.ts";
import { type GateFacts, shownApproval } from "./gate-object.ts";

const MAX_LISTED = 200;

const approvalSchema = z.looseObject({
  confirmation_id: z.string(),
  state: z.enum(APPROVAL_STATES),
  tool: z.string(),
  server: z.string(),
  requester: z.strictObject({ principal: z.string(), user: z.string(), tenant: z.string() }),
  /** Unset where it is over: then only their digest is kept. Numbers are as JavaScript reads them. */
  arguments: z.unknown().optional(),
  /** What the digest is of; unset where it is over. */
  arguments_text: z.string().optional(),
  args_sha256: z.string(),
  nonce: z.string(),
  gate_aggregator_id: z.string(),
  reason: z.string(),
  evidence: z.string(),
  created_at: z.string(),
  expires_at: z.string(),
  decided_by: z.string(),
  /** The page on which people decide, for whoever is given the link; unset where nobody can open one. */
  confirm_url: z.string().optional(),
});

const idSchema = z.strictObject({ id: z.string().max(64) });
const proofSchema = z.strictObject({
  type: z.string().max(64),
  format: z.string().max(16),
  value: z.string().max(8192),
});
const decisionSchema = z.strictObject({
  id: z.string().max(64),
  body: z.strictObject({ proof: proofSchema.optional() }).optional(),
});
const decidedSchema = z.strictObject({
  status: z.enum(["dispatched", "approved", "denied"]),
  confirmation_id: z.string(),
});

export type ApprovalOperationPorts = {
  readonly approvals: Approvals;
  readonly decider: Decider;
  readonly facts: () => Promise<GateFacts>;
};

export function approvalOperations(ports: ApprovalOperationPorts): readonly Operation[] {
  const { approvals, facts } = ports;
  return [
    operation({
      id: "approvals.list",
      method: "GET",
      path: "/api/approvals",
      summary: "Calls that wait for a yes, and what has become of others, newest first.",
      role: "operator",
      input: schemaOf(
        z.strictObject({
          state: z.enum(APPROVAL_STATES).optional(),
          limit: z.coerce.number().int().min(1).max(MAX_LISTED).optional(),
        }),
      ),
      output: schemaOf(z.strictObject({ approvals: z.array(approvalSchema) })),
      async run({ state, limit = MAX_LISTED }, { principal }) {
        const { tenant } = identityOf(principal);
        const found = await approvals.list({ tenant, state, limit });
        const shared = await facts();
        return { body: { approvals: found.map((approval) => listed(approval, shared)) } };
      },
    }),
    operation({
      id: "approvals.get",
      method: "GET",
      path: "/api/approvals/{id}",
      summary: "One of them.",
      role: "operator",
      input: schemaOf(idSchema),
      output: schemaOf(approvalSchema),
      async run({ id }, { principal }) {
        const found = await approvals.get(id);
        if (found?.tenant !== identityOf(principal).tenant) throw noSuch();
        return { body: listed(found, await facts()) };
      },
    }),
    decisionOperation(ports, "approve", "Says yes to a call: with a proof, or as the operator who calls."),
    decisionOperation(ports, "deny", "Says no to a call."),
  ];
}

function listed(approval: Approval, facts: GateFacts) {
  const shown = shownApproval(approval, facts);
  if (isOpen(approval)) return shown;
  const { arguments: _kept, arguments_text: _text, ...rest } = shown;
  return rest;
}

function decisionOperation(
  { decider }: ApprovalOperationPorts,
  decision: "approve" | "deny",
  summary: string,
): Operation {
  return operation({
    id: `approvals.${decision}`,
    method: "POST",
    path: `/api/approvals/{id}/${decision}`,
    summary,
    role: "operator",
    input: schemaOf(decisionSchema),
    output: schemaOf(decidedSchema),
    async run({ id, body }: z.infer<typeof decisionSchema>, { principal }: OperationContext) {
      const proof = body?.proof;
      const answer = proof
        ? await decider.confirm(principal, { id, decision, proof })
        : await decider.decideAs(principal, id, decision);
      return { body: { status: statusOf(answer), confirmation_id: id } };
    },
  });
}

function statusOf(answer: ConfirmAnswer): "dispatched" | "approved" | "denied" {
  if (answer.type === "decided") return answer.status;
  const { message, reason } = answer;
  if (reason === "unknown") throw noSuch();
  if (message === "confirmation_proof_invalid") {
    throw new GatewayError("NOT_ALLOWED", { message: `${message}: ${reason}`, details: { reason } });
  }
  throw new GatewayError("CONFLICT", { message: `${message}: ${reason}`, details: { reason } });
}

function noSuch(): GatewayError {
  return new GatewayError("NO_SUCH_TARGET", { message: "There is no such approval." });
}
