/** What a list says of a task that a server runs: a hundred answers of a server may be of any length, a list may not. */
import { copyText, JsonFault, membersAt } from "../../contract/index.ts";

/** What is no longer is listed as the server wrote it. */
const MAX_ENTRY = 8192;
/** Of each member that is kept of a longer one. */
const MAX_MEMBER = 1024;
const MEMBERS = ["taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt", "ttl", "pollInterval"];

/** `text`: the server's answer to tasks/get, of which nothing is kept. Undefined: two readers could read it differently. */
export function listedTask(text: string): string | undefined {
  if (text.length <= MAX_ENTRY) return copyText(text);
  try {
    const members = membersAt(text, 0);
    const kept = MEMBERS.flatMap((key) => {
      const value = members?.textOf(key);
      return value === undefined || value.length > MAX_MEMBER ? [] : [`"${key}":${value}`];
    });
    return copyText(`{${kept.join(",")}}`);
  } catch (error) {
    if (error instanceof JsonFault) return undefined;
    throw error;
  }
}
