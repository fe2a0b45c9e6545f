import { isUtf8 } from "node:buffer";
import { isBatch, type Message, MessageFault, skimBatch, skimMessage } from "../../wire/jsonrpc/index.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole ASCII range, control characters included
const ASCII = /^[\x00-\x7f]*$/;

/** The messages in one text of a server: one, or the several of a batch. Throws MessageFault. */
export function readMessages(text: string): readonly Message[] {
  if (!ASCII.test(text) && !isUtf8(Buffer.from(text, "latin1")))
    throw new MessageFault(-32700, "the text is not valid UTF-8");
  return isBatch(text) ? skimBatch(text).map(skimMessage) : [skimMessage(text)];
}
