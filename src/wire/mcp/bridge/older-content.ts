/** Content blocks for clients of revisions that do not know their type: said as text, so that nothing goes missing. */
import { decodeString, JsonFault, jsonText, type Payload, payload, Scanner } from "../../../contract/index.ts";

/** Since which revision clients know a type. Those that are not named here have always been. */
const SINCE: Readonly<Record<string, string>> = { audio: "2025-03-26", resource_link: "2025-06-18" };

/** From this revision on clients know every type of block. */
export const KNOWS_ALL_CONTENT = "2025-06-18";

/** What a tool or a prompt answered, for a client of revision `version`. The same payload when nothing must change. */
export function olderContent(method: string, result: Payload, version: string): Payload {
  const unknown = Object.keys(SINCE).filter((type) => version < (SINCE[type] ?? ""));
  if (!unknown.some((type) => result.text.includes(`"${type}"`))) return result;
  try {
    if (method === "tools/call") return changed(result, "content", (block) => asText(block, unknown));
    if (method === "prompts/get") return changed(result, "messages", (message) => olderMessage(message, unknown));
  } catch (error) {
    // Two readers could read it differently. It was so before us, and stays as it came.
    if (!(error instanceof JsonFault)) throw error;
  }
  return result;
}

function olderMessage(message: string, unknown: readonly string[]): string {
  const whole = payload(message);
  const block = whole.at(["content"]);
  const text = block === undefined ? undefined : asText(block, unknown);
  return text === undefined || text === block ? message : whole.splice(["content"], text).text;
}

/** `body` with each element of the list `key` as `change` gives it. */
function changed(body: Payload, key: string, change: (element: string) => string): Payload {
  const list = body.at([key]);
  if (list === undefined || !list.startsWith("[")) return body;
  const pieces = changedPieces(list, change);
  return pieces ? body.splice([key], `[${pieces.join(",")}]`) : body;
}

/** Shorter ones say of no type that they have it. */
const MIN_ELEMENT = '{"type":"audio"}'.length;

/**
 * The elements of a list; those beside each other that stay as they are, in one piece: there may be millions. Undefined: all stay.
 */
function changedPieces(list: string, change: (element: string) => string): readonly string[] | undefined {
  const scanner = new Scanner(list);
  const pieces: string[] = [];
  let [isChanged, same, sameEnd] = [false, -1, -1];
  const endSame = () => {
    if (same >= 0) pieces.push(list.slice(same, sameEnd));
    same = -1;
  };
  do {
    scanner.at++;
    scanner.space();
    const start = scanner.at;
    if (list.charAt(start) === "]") break;
    scanner.value(1);
    const before = scanner.at - start < MIN_ELEMENT ? "" : list.slice(start, scanner.at);
    const after = before.startsWith("{") ? change(before) : before;
    if (after === before) {
      if (same < 0) same = start;
      sameEnd = scanner.at;
    } else {
      isChanged = true;
      endSame();
      pieces.push(after);
    }
    scanner.space();
  } while (list.charAt(scanner.at) === ",");
  endSame();
  return isChanged ? pieces : undefined;
}

function asText(block: string, unknown: readonly string[]): string {
  if (!block.includes("\\") && !unknown.some((type) => block.includes(type))) return block;
  const whole = payload(block);
  const type = decodeString(whole.at(["type"]));
  if (type === undefined || !unknown.includes(type)) return block;
  const said = (key: string) => decodeString(whole.at([key])) ?? "";
  const text = type === "audio" ? audioText(said) : linkText(said);
  const annotations = whole.at(["annotations"]);
  const more = annotations === undefined ? "" : `,"annotations":${annotations}`;
  return `{"type":"text","text":${jsonText(text)}${more}}`;
}

function linkText(said: (key: string) => string): string {
  const lines = [[said("title") || said("name"), said("uri")], [said("description")]];
  return lines
    .map((parts) => parts.filter(Boolean).join(": "))
    .filter(Boolean)
    .join("\n");
}

function audioText(said: (key: string) => string): string {
  return `(audio, ${said("mimeType") || "of unknown type"}: it cannot be sent in this revision of MCP)`;
}
