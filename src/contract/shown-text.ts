/** So much of a name is kept of calls that are over, logged and told: a URI, or a method, may be as long as a message. */
const MAX_SHOWN = 512;

/** A name as it is shown. What is cut keeps nothing of the rest. */
export function shownText(text: string): string {
  return text.length > MAX_SHOWN ? copyString(`${text.slice(0, MAX_SHOWN)}…`) : text;
}

/** The same as a string of its own: a piece of a message that is kept would keep the whole message. For text of bytes: `copyText`. */
export function copyString(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}
