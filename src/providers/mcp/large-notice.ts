/** Notifications that are too large to be told to anybody: to read one of many MiB would hold up every call. */
import { payload } from "../../contract/index.ts";
import type { Message } from "../../wire/jsonrpc/index.ts";

/** As much as the journal of a call keeps. Answers and questions have the bound of `maxMessage`. */
const MAX_NOTICE_BYTES = 1024 * 1024;

/** So far from both ends of a message are its method and its id looked for. */
const NEAR = 256;
const HEAD =
  /^[ \t\r\n]*\{[ \t\r\n]*(?:"jsonrpc"[ \t\r\n]*:[ \t\r\n]*"2\.0"[ \t\r\n]*,[ \t\r\n]*)?"method"[ \t\r\n]*:[ \t\r\n]*"([\w./-]+)"[ \t\r\n]*,[ \t\r\n]*"params"/;

/**
 * What looks like a notification that is too large, with nothing in it: nobody has read it. Undefined for what looks like
 * something else, or hides what it is: it is read as any other message.
 */
export function peekNotice(text: string): Message | undefined {
  if (text.length <= MAX_NOTICE_BYTES) return undefined;
  const method = HEAD.exec(text.slice(0, NEAR))?.[1];
  if (method === undefined || text.slice(-NEAR).includes('"id"')) return undefined;
  return { kind: "notification", text, id: "", method, body: payload(""), members: undefined, outcome: "result" };
}

/** However it was spelled. */
export function isTooLarge({ kind, text }: Message): boolean {
  return kind === "notification" && text.length > MAX_NOTICE_BYTES;
}
