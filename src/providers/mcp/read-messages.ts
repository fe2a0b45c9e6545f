import { isUtf8 } from "node:buffer";
import { copyText } from "../../contract/index.ts";
import { isBatch, type Message, MessageFault, skimBatch, skimMessage } from "../../wire/jsonrpc/index.ts";
import { revisionOf } from "../../wire/mcp/index.ts";
import { peekNotice } from "./large-notice.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole ASCII range, control characters included
const ASCII = /^[\x00-\x7f]*$/;

/** From here on copying is cheaper than the expression. */
const LONG = 64 * 1024;

const ID = /"id"[ \t\r\n]*:[ \t\r\n]*(\d{1,16})/g;
/** So many are looked at in a batch that is not read. */
const MAX_IDS = 1024;

/** A batch that is not taken: nothing in it is. */
export class RefusedBatch extends MessageFault {
  /** The requests whose answers may stand in it. */
  readonly ids: ReadonlySet<string>;

  constructor(message: string, text: string) {
    super(-32600, message);
    const ids = new Set<string>();
    let looked = 0;
    for (const [, id = ""] of text.matchAll(ID)) {
      ids.add(copyText(id));
      if (++looked === MAX_IDS) break;
    }
    this.ids = ids;
  }
}

/** A message for which there was no memory: nobody has read it. */
export class UnheldMessage extends MessageFault {
  constructor(id: string | undefined) {
    super(-32600, "The gateway has no memory for a message of that size now.", id);
  }
}

/** The messages in one text of a server: one, or the several of a batch, where its revision has batches. Throws MessageFault. */
export function readMessages(text: string, hasBatches: boolean): readonly Message[] {
  const unread = peekNotice(text);
  if (unread) return [unread];
  requireUtf8(text);
  return isBatch(text) ? readBatch(text, hasBatches) : [skimMessage(text)];
}

function readBatch(text: string, hasBatches: boolean): readonly Message[] {
  if (!hasBatches) throw new RefusedBatch("batches exist only in sessions of protocol version 2025-03-26", text);
  try {
    return skimBatch(text).map(skimMessage);
  } catch (error) {
    throw error instanceof MessageFault ? new RefusedBatch(error.message, text) : error;
  }
}

/** Whether servers of that revision may write several messages as one batch. */
export function mayBatch(version: string): boolean {
  return revisionOf(version)?.hasBatches === true;
}

/** Throws MessageFault. */
export function requireUtf8(text: string): void {
  const isAscii = text.length < LONG && ASCII.test(text);
  if (!isAscii && !isUtf8(Buffer.from(text, "latin1"))) throw new MessageFault(-32700, "the text is not valid UTF-8");
}
