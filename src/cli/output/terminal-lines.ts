/** The log for a person at a terminal: a line for what they did or must know, and none for what is shown otherwise. */

import type { LogFields } from "../../contract/index.ts";
import type { LineFormat } from "../../server/log.ts";
import { plainLine } from "./plain.ts";
import { SENTENCES, textOf, WORDS } from "./terminal-words.ts";

/** `isShown`: whether the screen shows at this moment what this message would tell. */
export function terminalFormat(isShown: (message: string) => boolean): LineFormat {
  return (time, level, message, fields) => {
    if (isShown(message)) return "";
    const describe = Object.hasOwn(WORDS, message) ? WORDS[message] : undefined;
    const mark = level === "error" ? "ERROR: " : level === "warn" ? "warning: " : "";
    const lines = describe?.(fields) ?? [`${mark}${sentence(message, fields)}`];
    const margin = " ".repeat(CLOCK.length);
    return lines.map((line, index) => `${index === 0 ? time.slice(11, 19) : margin}  ${printable(line)}\n`).join("");
  };
}

const CLOCK = "00:00:00";

/** The fields that say something to whoever runs the gateway; ids and other details are in the log of a file or a pipe. */
const TELLING = "provider server store tool prompt name written key tenant issuer endpoint file count".split(" ");

/** What happened, to what, and why. */
function sentence(message: string, fields: LogFields): string {
  const plain = Object.hasOwn(SENTENCES, message) ? SENTENCES[message]?.(fields) : undefined;
  const why = textOf(fields.reason) ?? textOf(fields.why) ?? textOf(fields.cause);
  return [plain ?? named(message, fields), ...(why ? [why] : [])].join(": ");
}

function named(message: string, fields: LogFields): string {
  const about = TELLING.map((key) => fields[key]).filter(
    (value) => typeof value === "string" || typeof value === "number",
  );
  return about.length > 0 ? `${message} (${about.join(", ")})` : message;
}

/** Without control characters; the margin stays. */
function printable(line: string): string {
  return line.startsWith("  ") ? `  ${plainLine(line)}` : plainLine(line);
}
