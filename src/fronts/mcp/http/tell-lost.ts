import { decodeString, type HttpRequest } from "../../../contract/index.ts";
import { namedTrace, traceIdIn } from "../../../mechanisms/audit/index.ts";
import type { Message } from "../../../wire/jsonrpc/index.ts";
import type { FrontContext } from "../front-context.ts";

/** Its caller is about to hear that nobody knows how it ended. What is called is known by the caller's name for it. */
export function tellLost(
  { onLost }: FrontContext,
  { principal, headers }: HttpRequest,
  { method, members, body }: Message,
): void {
  const target = { server: "", name: decodeString(members?.textOf("name")) ?? "" };
  onLost?.({ principal, method, target, traceId: namedTrace(body) ?? traceIdIn(headers.traceparent) });
}
