/** Results of 2026-07-28 as clients of the 2025 era may see them. */
import { jsonText, type Payload, payload, stringOf } from "../../../contract/index.ts";
import { SERVER_INFO } from "../2026-07-28/index.ts";

/** Members of every result that the 2025 era does not know. */
export const RESULT_MEMBERS: readonly string[] = ["resultType", "ttlMs", "cacheScope"];

export function stripResult(body: Payload): Payload {
  let stripped = body.text.startsWith(USUAL_HEAD)
    ? payload(`{${body.text.slice(USUAL_HEAD.length)}`, body.frame)
    : body;
  for (const key of RESULT_MEMBERS) if (stripped.text.includes(`"${key}"`)) stripped = stripped.splice([key]);
  return stripServerInfo(stripped);
}

/** How the official SDKs begin a result; whoever writes it that way spares us a walk through the whole result. */
const USUAL_HEAD = '{"resultType":"complete",';

/** The body without the server's name in `_meta`; an empty `_meta` goes, too. */
export function stripServerInfo(body: Payload): Payload {
  if (!body.text.includes(SERVER_INFO)) return body;
  const stripped = body.splice(["_meta", SERVER_INFO]);
  return stripped.at(["_meta"]) === "{}" ? stripped.splice(["_meta"]) : stripped;
}

/**
 * What a tool answered. Structured content must be an object for these clients, and those that do not read it at all want
 * it as text. `isWrapped`: the tool's output schema is wrapped.
 */
export function legacyToolResult(body: Payload, isWrapped: boolean): Payload {
  const structured = body.text.includes('"structuredContent"') ? body.at(["structuredContent"]) : undefined;
  const content = body.at(["content"]);
  if (structured === undefined) return content === undefined ? body.splice(["content"], "[]") : body;
  const mustWrap = isWrapped || !structured.startsWith("{");
  const wrapped = mustWrap ? body.splice(["structuredContent"], `{"result":${structured}}`) : body;
  if (content !== undefined && hasText(content)) return wrapped;
  const block = `{"type":"text","text":${jsonText(stringOf(structured))}}`;
  const former = content?.startsWith("[") ? content.slice(1, -1).trim() : "";
  return wrapped.splice(["content"], former === "" ? `[${block}]` : `[${former},${block}]`);
}

function hasText(content: string): boolean {
  if (!content.includes('"text"')) return false;
  const blocks = payload(content).value();
  return Array.isArray(blocks) && blocks.some((block) => Object(block).type === "text");
}
