/** What of the block list is about a question. */
import type { Block } from "../../contract/index.ts";
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
