/**
 * Questions without a session: the call ends with them, and the client calls again with the answers. The offer then runs
 * anew from its start, and finds its earlier questions answered.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type Call, type Question, rpcError } from "../offers/call.ts";
import type { Json } from "../sdk.ts";
import { isObject, type Request } from "./protocol.ts";

/** Thrown by `ask`, to end the call. */
export class InputRequired extends Error {
  readonly result: Json;

  constructor(inputRequests: Json, requestState: string | undefined) {
    super("input required");
    this.result = { inputRequests, ...(requestState === undefined ? {} : { requestState }) };
  }
}

const CAPABILITY: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

export function createAsk(request: Request, capabilities: Json): Call["ask"] {
  const { inputResponses = {}, requestState, name } = request.params;
  const answers = requestState === undefined ? {} : open(requestState, name);
  if (!isObject(inputResponses)) throw rpcError(-32602, "inputResponses is not an object");
  const invalid = Object.entries(inputResponses).find(([, answer]) => !isObject(answer));
  if (invalid !== undefined) throw rpcError(-32602, `The answer to ${invalid[0]} is not an object`);

  return async (questions, options) => {
    requireCapabilities(questions, capabilities);
    for (const key of Object.keys(questions)) answers[key] ??= inputResponses[key];
    const missing = Object.entries(questions).filter(([key]) => answers[key] === undefined);
    if (missing.length === 0) return answers as Record<string, Json>;
    // Without a state, the answers already given would be lost.
    if (options?.withState !== true) throw new InputRequired(questions, undefined);
    throw new InputRequired(Object.fromEntries(missing), seal(answers, name));
  };
}

function requireCapabilities(questions: Readonly<Record<string, Question>>, declared: Json): void {
  const needed = Object.values(questions).map(({ method }) => CAPABILITY[method] ?? method);
  const missing = needed.filter((capability) => declared[capability] === undefined);
  if (missing.length === 0) return;
  const requiredCapabilities = Object.fromEntries(missing.map((capability) => [capability, {}]));
  throw rpcError(-32021, `The client does not support ${missing.join(", ")}`, { requiredCapabilities });
}

const secret = randomBytes(32);

function sign(body: string): Buffer {
  return createHmac("sha256", secret).update(body).digest();
}

function seal(answers: Json, name: unknown): string {
  const nonce = randomBytes(8).toString("hex");
  const body = Buffer.from(JSON.stringify({ name, nonce, answers })).toString("base64url");
  return `${body}.${sign(body).toString("base64url")}`;
}

/** Returns the answers of earlier rounds; throws for a state that we did not make for this target. */
function open(state: unknown, name: unknown): Json {
  const [body = "", signature = ""] = String(state).split(".");
  const bytes = Buffer.from(signature, "base64url");
  const expected = sign(body);
  // Node's decoder skips what is not base64url, so the text is compared as well.
  const isOurs = signature === expected.toString("base64url") && timingSafeEqual(bytes, expected);
  const sealed = isOurs ? JSON.parse(Buffer.from(body, "base64url").toString()) : undefined;
  if (sealed?.name !== name) throw rpcError(-32602, "Invalid or expired requestState");
  return sealed.answers;
}
