import type { HttpRequest } from "../../../contract/index.ts";
import { revisionOf, VERSIONS } from "../../../wire/mcp/index.ts";
import type { Refusal } from "./refuse.ts";

// 404 and not 400: the client must start a new session rather than mend this message.
export const NO_SUCH_SESSION: Refusal = {
  status: 404,
  reason: "session",
  code: -32001,
  message: "Session not found: it has ended or never was. Send initialize again to start a new one",
};

export const SESSION_NEEDED: Refusal = {
  status: 400,
  reason: "no session",
  code: -32000,
  message: "The Mcp-Session-Id header is required",
};

/** Names a version that we do not speak. Without one, the session's own counts. */
export function versionRefusal(request: HttpRequest): Refusal | undefined {
  const version = request.headers["mcp-protocol-version"];
  if (version === undefined || revisionOf(version)) return undefined;
  const message = `Unsupported protocol version (supported versions: ${VERSIONS.join(", ")})`;
  return { status: 400, reason: "protocol version", code: -32000, message };
}
