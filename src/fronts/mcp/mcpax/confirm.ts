/** `mcpax/confirm`: somebody brings a proof for a call that waits, over MCP or by itself. */
import {
  type ConfirmAnswer,
  type Confirmations,
  type ConfirmOrder,
  JsonFault,
  jsonText,
  type Payload,
  type Principal,
  payload,
} from "../../../contract/index.ts";
import { answerText, errorText, type Message } from "../../../wire/jsonrpc/index.ts";
import { ambiguousAnswer } from "../mcp-errors.ts";

export const CONFIRM_METHOD = "mcpax/confirm";

/** What MCP-AX leaves without a number: `message` and `data.reason` say which it is. */
const MCPAX_ERROR = -32010;
const INVALID_PARAMS = -32602;

type Desk = {
  readonly confirmations: Confirmations;
  /** It cannot even be understood what is to be confirmed. */
  readonly onUnusable: () => void;
};

/** The answer to the message. `dress`: what the era adds to results. Rejects with STATE_UNAVAILABLE. */
export async function answerConfirm(
  { confirmations, onUnusable }: Desk,
  { principal, message }: { readonly principal: Principal; readonly message: Message },
  dress: (result: Payload) => Payload = (result) => result,
): Promise<string> {
  let order: ConfirmOrder | string;
  try {
    order = orderOf(message.body.text === "" ? undefined : message.body.value());
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    onUnusable();
    return ambiguousAnswer(message.id, error);
  }
  if (typeof order === "string") {
    onUnusable();
    return errorText(message.id, { code: INVALID_PARAMS, message: order });
  }
  const answer = await confirmations.confirm(principal, order);
  if (answer.type === "refused") return errorText(message.id, refusal(answer));
  const result = payload(jsonText({ status: answer.status, confirmation_id: order.id }));
  return answerText(message.id, "result", dress(result));
}

function refusal({ message, reason }: ConfirmAnswer & { type: "refused" }) {
  return { code: MCPAX_ERROR, message, data: { reason, detail: reason } };
}

/** Or what is wrong with it. */
function orderOf(params: unknown): ConfirmOrder | string {
  const { confirmation_id: id, decision, proof } = (params ?? {}) as Record<string, unknown>;
  if (typeof id !== "string") return "params.confirmation_id must be a string";
  if (decision !== "approve" && decision !== "deny") return 'params.decision must be "approve" or "deny"';
  if (proof === undefined) return { id, decision };
  const { type, format, value } = (proof ?? {}) as Record<string, unknown>;
  if (typeof type !== "string" || typeof format !== "string" || typeof value !== "string") {
    return "params.proof must have type, format and value, all strings";
  }
  return { id, decision, proof: { type, format, value } };
}
