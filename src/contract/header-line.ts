const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Tab, visible ASCII, and the bytes of other text; no CR, LF, NUL or other control, nothing that is not one byte.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

// Framing belongs to whoever writes the message: a second opinion on it is request smuggling.
const FRAMING: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * One header line with its line end, as latin1 text. Throws on anything that could end the line early.
 * The value stays out of the message, because it may be a credential.
 */
export function headerLine(name: string, value: string): string {
  if (!isHeaderName(name)) throw new Error(`not a valid header name: ${JSON.stringify(name)}`);
  if (!isHeaderValue(value))
    throw new Error(`the value of header ${name} holds a control character or text that is not latin1`);
  return `${name}: ${value}\r\n`;
}

export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

export function isHeaderValue(value: string): boolean {
  return VALUE.test(value);
}

/** Whether a header says how a message is framed, or what happens to its connection. */
export function isFramingHeader(name: string): boolean {
  return FRAMING.has(name.toLowerCase());
}
