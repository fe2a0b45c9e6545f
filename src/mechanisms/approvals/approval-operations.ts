/** Approvals for operators: what waits, and their yes or no. */
import * as z from "zod";
import {
  APPROVAL_STATES,
  type Approval,
  type ConfirmAnswer,
  GatewayError,
  identityOf,
  isOpen,
  type ListedApproval,
  MAX_LISTED_INPUT,
  NO_INPUT,
  type Operation,
  type OperationContext,
} from "../../contract/index.ts";
import { operation, schemaOf } from "../schemas/index.ts";
import type { Approvals } from "./approvals.ts";
import type { Decider } from "./decide.ts";
import { decidedText } from "./decided-text.ts";
import { type GateFacts, shownApproval, shownFacts } from "./gate-object.ts";

const MAX_LISTED = 200;
/** Of params that are too long for a list, so much is shown. */
const BEGINNING = 256;

const approvalSchema = z.looseObject({
  confirmation_id: z.string(),
  state: z.enum(APPROVAL_STATES),
  /** The name that rules have for it: no catalog renames it. */
  tool: z.string(),
  /** By which the first of its callers called it; unset: by that one. */
  called_as: z.string().optional(),
  server: z.string(),
  requester: z.strictObject({ principal: z.string(), user: z.string(), tenant: z.string() }),
  /** Unset where it is over: then only their digest is kept. Numbers are as JavaScript reads them. */
  arguments: z.unknown().optional(),
  /** What the digest is of; unset where it is over. */
  arguments_text: z.string().optional(),
  /** What is sent beside the arguments; unset where nothing is. The digest is then of both: `[arguments_text,also_sent_text]`. */
  also_sent: z.unknown().optional(),
  also_sent_text: z.string().optional(),
  /** Instead of these four where they are long and this stands in a list: the single view has all of it. */
  long_input: z.strictObject({ beginning: z.string(), characters: z.number() }).optional(),
  args_sha256: z.string(),
  nonce: z.string(),
  gate_aggregator_id: z.string(),
  reason: z.string(),
  evidence: z.string(),
  created_at: z.string(),
  expires_at: z.string(),
  decided_by: z.string(),
  /** Of a call that waits in this process: whether its client is there for the answer. It is made all the same where it is not. */
  caller_connection: z.enum(["open", "closed"]).optional(),
  /** The page on which people decide, for whoever is given the link; unset where nobody can open one. */
  confirm_url: z.string().optional(),
  /** What must be written before anybody can say yes; unset: somebody can. */
  nobody_can_approve: z.string().optional(),
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
  /** Of what was dispatched: whether its client was there for the answer; unset: this process does not know. */
  caller_connection: z.enum(["open", "closed"]).optional(),
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
      summary:
        "Calls that wait for a yes, and what has become of others, newest first; with state=waiting the callers take turns.",
      role: "operator",
      input: schemaOf(
        z.strictObject({
          state: z.enum(APPROVAL_STATES).optional(),
          user: z.string().max(256).optional(),
          principal: z.string().max(1024).optional(),
          id: z
            .string()
            .regex(/^[0-9a-f-]{1,36}$/)
            .optional()
            .describe("How it begins."),
          limit: z.coerce.number().int().min(1).max(MAX_LISTED).optional(),
        }),
      ),
      output: schemaOf(
        z.strictObject({
          approvals: z.array(approvalSchema),
          total: z.number().describe("How many there are, beside those listed, too."),
        }),
      ),
      async run({ limit = MAX_LISTED, id: idStart, ...wanted }, { principal }) {
        const { tenant } = identityOf(principal);
        const inTurns = wanted.state === "waiting";
        const { found, total } = await approvals.list({ ...wanted, tenant, idStart, limit, inTurns });
        const shared = await facts();
        return { body: { approvals: found.map((approval) => inList(approval, shared)), total } };
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
        return { body: listed(found, await facts(), () => approvals.inputs.of(found)) };
      },
    }),
    decisionOperation(ports, "approve", "Says yes to a call: with a proof, or as the operator who calls."),
    decisionOperation(ports, "deny", "Says no to a call."),
  ];
}

function inList({ beginning, characters, ...approval }: ListedApproval, facts: GateFacts) {
  if (!isOpen(approval) || characters <= MAX_LISTED_INPUT) return listed({ ...approval, input: beginning }, facts);
  const long_input = { beginning: beginning.slice(0, BEGINNING).toWellFormed(), characters };
  return { ...shownFacts({ ...approval, input: NO_INPUT }, facts), long_input };
}

/** Those that are over have no input any more. */
function listed(approval: Approval, facts: GateFacts, decided = () => decidedText(approval)) {
  return isOpen(approval) ? shownApproval(approval, facts, decided()) : shownFacts(approval, facts);
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
      const connection = answer.type === "decided" && answer.connection;
      const known = connection && { caller_connection: connection };
      return { body: { status: statusOf(answer), confirmation_id: id, ...known } };
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
