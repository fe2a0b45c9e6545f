/** Asks a server whether it speaks 2026-07-28. The only place that reads a verdict out of an answer. */
import { membersAt, payload, unambiguousAt } from "../../../contract/index.ts";
import type { Message } from "../../../wire/jsonrpc/index.ts";
import { revision20260728, SERVER_INFO } from "../../../wire/mcp/2026-07-28/index.ts";
import type { Declarations } from "../declarations.ts";
import { type Agreement, isGateway } from "../handshake.ts";
import { failureOf } from "../mcp-errors.ts";
import { type UpstreamFailure, UpstreamFault } from "../transport.ts";
import type { UpstreamSession } from "../upstream-session.ts";

const UNSUPPORTED_VERSION = "-32022";
/** Errors that only a server of 2026-07-28 sends: a header or a capability it misses. */
const MODERN_ERRORS: readonly string[] = ["-32020", "-32021"];
/** Statuses that say nothing about the era: credentials, and servers that are busy. */
const UNDECIDED_STATUS: readonly number[] = [401, 403, 408, 425, 429];

/**
 * What the server declares; undefined when it is of the 2025 era. Rejects with UpstreamFault when there is no verdict.
 * The session must dress its requests for 2026-07-28.
 */
export async function discover(session: UpstreamSession, timeoutMs: number): Promise<Agreement | undefined> {
  const first = await ask(session, timeoutMs);
  // Some servers refuse the very version they list, once: it is asked for again all the same.
  const answer =
    first && codeOf(first) === UNSUPPORTED_VERSION && listsOurs(first) ? await ask(session, timeoutMs) : first;
  if (!answer) return undefined;
  const code = codeOf(answer);
  if (code === undefined) return readDiscovery(answer, session.context.declarations);
  if (MODERN_ERRORS.includes(code) || (code === UNSUPPORTED_VERSION && listsOurs(answer)))
    throw new UpstreamFault({ kind: "invalid", message: `The server refused to be discovered (code ${code}).` });
  return undefined;
}

/** Undefined: what came back is no answer of this protocol. */
async function ask(session: UpstreamSession, timeoutMs: number): Promise<Message | undefined> {
  try {
    return await session.request("server/discover", payload(""), timeoutMs);
  } catch (error) {
    if (isLegacyAnswer(failureOf(error))) return undefined;
    throw error;
  }
}

function isLegacyAnswer({ kind, status = 0 }: UpstreamFailure): boolean {
  return kind === "invalid" && status < 500 && !UNDECIDED_STATUS.includes(status);
}

/** Of an error. */
function codeOf(answer: Message): string | undefined {
  return answer.outcome === "fault" ? (answer.members?.textOf("code") ?? "") : undefined;
}

function listsOurs(answer: Message): boolean {
  return lists(membersAt(answer.members?.textOf("data") ?? "", 0)?.textOf("supported"));
}

function lists(versions: string | undefined): boolean {
  const value = versions?.startsWith("[") ? payload(versions).value() : undefined;
  return Array.isArray(value) && value.includes(revision20260728.version);
}

function readDiscovery({ members }: Message, declarations: Declarations): Agreement | undefined {
  if (!lists(members?.textOf("supportedVersions"))) return undefined;
  const declared = declarations.read(members);
  return {
    version: revision20260728.version,
    ...declared,
    isGateway: isGateway(unambiguousAt(payload(members?.textOf("_meta") ?? "{}"), [SERVER_INFO])),
  };
}
