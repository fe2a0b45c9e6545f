/**
 * A long answer that nobody has walked yet. To walk it at once would hold up every call, so whoever waits for a list gets it
 * as it came, and reads it in steps.
 */

/** Shorter ones are read as any other message. */
const LARGE_BYTES = 128 * 1024;

export type LargeAnswer = {
  /** The message, and the id that it seems to answer. */
  readonly text: string;
  readonly id: string;
  /** Where its result begins. */
  readonly start: number;
};

/** So far from both ends of a message are its id and the beginning of its result looked for. */
const NEAR = 256;
const RESULT = /"result"[ \t\r\n]*:[ \t\r\n]*(?=\{)/;
const FIRST_ID = /"id"[ \t\r\n]*:[ \t\r\n]*(\d+)[ \t\r\n]*,/;
const LAST_ID = /"id"[ \t\r\n]*:[ \t\r\n]*(\d+)[ \t\r\n]*(?:,[^{}[\]]*)?\}[ \t\r\n]*$/;

/** Undefined for what does not look like one: it is read as any other message, and so is what hides its id. */
export function peekAnswer(text: string): LargeAnswer | undefined {
  if (text.length < LARGE_BYTES) return undefined;
  const head = text.slice(0, NEAR);
  const result = RESULT.exec(head);
  if (!result) return undefined;
  const id = idIn(head.slice(0, result.index), text.slice(-NEAR));
  return id === undefined ? undefined : { text, id, start: result.index + result[0].length };
}

/** The id that a message seems to answer of which only the beginning and the end are there. */
export function peekId(head: string, tail: string): string | undefined {
  const result = RESULT.exec(head);
  return result ? idIn(head.slice(0, result.index), tail) : undefined;
}

function idIn(head: string, tail: string): string | undefined {
  return (FIRST_ID.exec(head) ?? LAST_ID.exec(tail))?.[1];
}
