import { type Payload, payload } from "../../contract/index.ts";

const MAX_KEPT = 256;
const MAX_LENGTH = 4096;

/**
 * Equal texts become one payload: ten thousand clients of the same make declare the same things.
 * The text is copied, because a slice would keep the whole message alive that it was cut from.
 */
export function createInterner(): (text: string) => Payload {
  const known = new Map<string, Payload>();
  return function intern(text) {
    const found = known.get(text);
    if (found) return found;
    const copy = payload(Buffer.from(text, "latin1").toString("latin1"));
    if (text.length > MAX_LENGTH) return copy;
    if (known.size >= MAX_KEPT) known.clear();
    known.set(copy.text, copy);
    return copy;
  };
}
