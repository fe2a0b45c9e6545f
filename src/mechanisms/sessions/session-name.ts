/**
 * What a session is called where others than its client see it. Its id opens it: who has that, and comes as the same caller,
 * reads its streams, answers for it and ends it.
 */
import { createHash } from "node:crypto";

const LENGTH = 22;
const NAME = new RegExp(`^s-[A-Za-z0-9_-]{${LENGTH}}$`);

/** The name of a name is itself: an operator may say either. */
export function sessionName(id: string): string {
  if (NAME.test(id)) return id;
  return `s-${createHash("sha256").update(`session ${id}`).digest("base64url").slice(0, LENGTH)}`;
}
