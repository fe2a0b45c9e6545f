/** What only this gateway may say: a server that says it as well would speak to callers with our voice. */
import { ERROR_KEY, type Payload } from "../../contract/index.ts";

/** Where what a server said under our key goes: a gateway behind us means it, and callers are told that it is not ours. */
const RELAYED_KEY = "dev.isthmus/relayedError";

/** Where our words stand in a result, and in an error. */
type Place = "_meta" | "data";
const WRITTEN = { _meta: '"_meta"', data: '"data"' } as const;

/** A result or an error without words that are ours. Throws JsonFault where it has them twice. */
export function withoutOurWords(body: Payload, place: Place): Payload {
  if (!mayHaveOurs(body.text, place)) return body;
  const said = body.at([place, ERROR_KEY]);
  if (said === undefined) return body;
  return body.splice([place, ERROR_KEY]).splice([place, RELAYED_KEY], said);
}

/** Of the text alone, as most results have nothing of it. The first key was read already, so that it is spelled as it is. */
function mayHaveOurs(text: string, place: Place): boolean {
  return text.includes(WRITTEN[place]) && (text.includes(ERROR_KEY) || text.includes("\\u00") || text.includes("\\/"));
}
