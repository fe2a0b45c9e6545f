/** MGP's access methods. They are operations of the gateway: what `/api/access` does, in the words of a session. */
import {
  canChange,
  GatewayError,
  hasRole,
  identityOf,
  isChange,
  jsonText,
  type Operation,
  type Payload,
  PROOF_WANTED,
  type Principal,
  payload,
  type SchemaProblem,
  WHOLE_WANTED,
} from "../../../contract/index.ts";
import { namedTrace } from "../../../mechanisms/audit/index.ts";
import { answerText, type ErrorBody, errorText, type Message } from "../../../wire/jsonrpc/index.ts";
import { mgpError, negotiate } from "../../../wire/mgp/index.ts";
import { errorBody } from "../mcp-errors.ts";
import type { MgpPorts } from "./mgp-ports.ts";

/** The operation behind each. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ["mgp/access/query", "access.query"],
  ["mgp/access/grant", "access.grant"],
  ["mgp/access/revoke", "access.revoke"],
]);

export const ACCESS_METHODS: readonly string[] = [...METHODS.keys()];

const INVALID_PARAMS = -32602;

export type AccessRequest = {
  readonly principal: Principal;
  readonly message: Message;
  /** What its client declares. */
  readonly capabilities: Payload;
};

/** Whether it is one of them, and in force with this client. */
export function isAccessRequest(mgp: MgpPorts, { message, capabilities }: AccessRequest): boolean {
  if (!METHODS.has(message.method)) return false;
  return negotiate(capabilities, mgp.offered())?.includes("access_control") === true;
}

/** The answer to the message. Throws JsonFault. `dress`: what the era adds to results; `onForbidden`: it is not theirs to do. */
export async function answerAccess(
  mgp: MgpPorts,
  { principal, message }: AccessRequest,
  {
    dress = (result: Payload) => result,
    onForbidden,
  }: { dress?: (result: Payload) => Payload; onForbidden: () => void },
): Promise<string> {
  const body = bodyOf(message);
  try {
    const operation = await operationOf(mgp, message.method);
    if (operation.role !== "caller" && operation.role !== "anyone" && !hasRole(principal, operation.role)) {
      const isElsewhere = identityOf(principal).isForEndpoints === true;
      const message = isElsewhere ? WHOLE_WANTED : `This needs the role ${operation.role}.`;
      throw new GatewayError("NOT_ALLOWED", { message });
    }
    if (isChange(operation) && !canChange(principal)) throw new GatewayError("NOT_ALLOWED", { message: PROOF_WANTED });
    const checked = operation.input.check({ body });
    if ("problems" in checked) return errorText(message.id, invalid(checked.problems));
    const { body: result } = await operation.run(checked.value, { principal, traceId: namedTrace(message.body) });
    return answerText(message.id, "result", dress(payload(jsonText(result))));
  } catch (cause) {
    if (!GatewayError.is(cause)) throw cause;
    if (cause.code === "NOT_ALLOWED") onForbidden();
    return errorText(message.id, mgpError(cause) ?? errorBody(message.method, cause, ""));
  }
}

async function operationOf(mgp: MgpPorts, method: string): Promise<Operation> {
  const operations = await mgp.operations();
  const operation = operations.find(({ id }) => id === METHODS.get(method));
  if (!operation) throw new GatewayError("INTERNAL", { cause: new Error(`no operation for ${method}`) });
  return operation;
}

/** The params without what any request may carry beside them. */
function bodyOf({ body }: Message): object {
  const { _meta, _mgp, trace_id, ...own } = (body.text === "" ? {} : body.value()) as Record<string, unknown>;
  return own;
}

function invalid(problems: readonly SchemaProblem[]): ErrorBody {
  const errors = problems.map(({ path, message }) => ({ path: path.replace(/^\/body/, ""), message }));
  const [first] = errors;
  const message = `Invalid params: ${first?.path || "params"}: ${first?.message ?? "not what this method takes"}`;
  return { code: INVALID_PARAMS, message, data: { errors } };
}
