/** What of the block list is about a question, or about a call that runs already. */
import type { Block, Call } from "../../contract/index.ts";
import type { LiveAccess } from "./access.ts";
import type { Question } from "./decide.ts";

export function blockFor(blocks: readonly Block[], question: Question, now: number): Block | undefined {
  const { server, protocol, name, dotted } = question;
  return blocks.find(
    (block) =>
      block.until > now &&
      (block.server === "" || block.server === server) &&
      (block.protocol === "" || block.protocol === protocol) &&
      (block.primitive === "" || block.primitive === name || block.primitive === dotted),
  );
}

/**
 * Whether a call that was let in would be refused now by a block: by any name and spelling of what it is about, as new calls are. A URI
 * that can be read in two ways may be of what is blocked.
 */
export function isBlockedNow(access: Pick<LiveAccess, "reachOf">, call: Call): boolean {
  const judged = access.reachOf(call.principal, call.origin.front)?.judgedBy(call, call.session?.catalog ?? "") ?? [];
  return judged.some(({ decision: { source, isUnreadable } }) => source === "block" || isUnreadable === true);
}
