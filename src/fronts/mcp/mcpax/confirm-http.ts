/** `POST /mcpax/confirm`: the same message as over MCP, without a session. */
import {
  type Confirmations,
  checkUtf8,
  GatewayError,
  type HttpRequest,
  type HttpResponse,
  JsonFault,
} from "../../../contract/index.ts";
import { errorText, type Message, MessageFault, skimMessage } from "../../../wire/jsonrpc/index.ts";
import type { FrontContext } from "../front-context.ts";
import { errorAnswer } from "../mcp-errors.ts";
import { answerConfirm, CONFIRM_METHOD } from "./confirm.ts";

/** A proof is small. */
const MAX_BODY = 64 * 1024;

const JSON_LINES = "Content-Type: application/json\r\nCache-Control: no-store\r\n";

export function handleConfirm(
  front: Pick<FrontContext, "log" | "meter" | "refused">,
  confirmations: Confirmations,
  request: HttpRequest,
  response: HttpResponse,
): void {
  const answer = (status: number, text: string, lines = "") => response.answer(status, lines + JSON_LINES, text);
  const note = () => {
    const { principal, url: path, clientAddress: address } = request;
    front.refused?.({ reason: "confirm", principal, path, address, name: CONFIRM_METHOD });
  };
  const type = request.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (request.method !== "POST" || type !== "application/json") {
    request.discard();
    note();
    const message = "Send a POST with Content-Type: application/json";
    const isPost = request.method === "POST";
    return answer(isPost ? 415 : 405, errorText("null", { code: -32600, message }), isPost ? "" : "Allow: POST\r\n");
  }
  const take = async (message: Message): Promise<string> => {
    if (message.kind === "request" && message.method === CONFIRM_METHOD) {
      return await answerConfirm({ confirmations, onUnusable: note }, { principal: request.principal, message });
    }
    note();
    return errorText(message.id || "null", { code: -32601, message: `Only ${CONFIRM_METHOD} is answered here` });
  };
  request.body(MAX_BODY, {
    onTooLarge: () => answer(413, errorText("null", { code: -32600, message: `The body is over ${MAX_BODY} bytes` })),
    onBody(text) {
      const message = skimmed(text);
      if (typeof message === "string") {
        front.meter.count("isthmus_refused_total", "message");
        note();
        return answer(400, message);
      }
      take(message).then(
        (said) => answer(200, said),
        (cause) => {
          const error = GatewayError.from(cause);
          if (error.code === "INTERNAL") front.log.error("confirmation failed inside the gateway", { cause });
          answer(error.code === "STATE_UNAVAILABLE" ? 503 : 200, errorAnswer(message.id, "", error, ""));
        },
      );
    },
  });
}

/** Or the answer to what is no message. */
function skimmed(text: string): Message | string {
  try {
    checkUtf8(text);
    return skimMessage(text);
  } catch (error) {
    if (error instanceof MessageFault) return errorText(error.id, { code: error.code, message: error.message });
    if (error instanceof JsonFault) return errorText("null", { code: -32700, message: error.message });
    throw error;
  }
}
