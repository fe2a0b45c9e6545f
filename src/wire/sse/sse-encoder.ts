/** Writes text/event-stream blocks as latin1 text (one character per byte). */

export type SseFields = { id?: string; event?: string; retry?: number; data: string };

/**
 * One event, ended by its blank line. Every line end in `data` (CR, LF or CRLF) starts a new data line and is read back as LF.
 * Throws when `id` or `event` hold a line end, or `id` a NUL, because a reader would take them for something else.
 */
export function encodeSse(fields: SseFields): string {
  const { id, event, retry, data } = fields;
  let text = "";
  if (event !== undefined) text = `event: ${refuseLineEnd("event", event)}\n`;
  if (id !== undefined) text += `id: ${refuseLineEnd("id", id)}\n`;
  if (retry !== undefined) text += `retry: ${retry}\n`;
  if (!data.includes("\n") && !data.includes("\r")) return `${text}data: ${data}\n\n`;
  return `${text}data: ${data.replace(/\r\n|\r|\n/g, "\ndata: ")}\n\n`;
}

/** A comment block: readers skip it, proxies see traffic. */
export function encodeSseComment(text = ""): string {
  return `: ${text.replace(/\r\n|\r|\n/g, "\n: ")}\n\n`;
}

function refuseLineEnd(field: string, value: string): string {
  if (/[\r\n\0]/.test(value)) throw new Error(`the ${field} of an event may not hold a line end or NUL`);
  return value;
}
