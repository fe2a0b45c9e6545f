/** The log for a person at a terminal: a line for what they did or must know, and none for what is shown otherwise. */
import type { LogFields } from "../../contract/index.ts";
import { type LineFormat, prettyLine } from "../../server/log.ts";
import { plainLine } from "./plain.ts";

type Describe = (fields: LogFields) => readonly string[];

/** In other words than the log's. No lines: the table of servers or another line says it. */
const WORDS: Readonly<Record<string, Describe>> = {
  listening: () => [],
  "config taken over": () => [],
  "pinned what is new": () => [],
  // The summary tells who is asked for what.
  "callers are known by": () => [],
  "default access policy": ({ policy, why }) => [`access: ${policy}, ${why}`],
  "no gate.anchors: nobody can approve": () => [
    "tools that cannot be undone wait for a yes that nobody can give;",
    '  "isthmus operator init" says how, [gate] mode = "open" lets them go',
  ],
  // It repeats with every attempt; the state of the server is told once.
  "upstream session failed": () => [],
  "call finished": ({ target, code, durationMs, callId }) => [
    `${target}: ${code}, ${durationMs} ms${code === "ok" ? "" : `; "isthmus trace ${callId}" shows more`}`,
  ],
  "provider state": ({ provider, status, reason }) => [`${provider}: ${status}${reason ? `, ${reason}` : ""}`],
  "config refused, the old one stays": ({ problems, cause }) => [
    "the config was refused, the old one stays:",
    ...(Array.isArray(problems) ? problems : [cause]).map((problem) => `  ${problem}`),
  ],
  stopping: () => ["stopping when open calls have ended; Ctrl-C stops at once"],
};

/** `isShown`: whether the screen shows at this moment what this message would tell. */
export function terminalFormat(isShown: (message: string) => boolean): LineFormat {
  return (time, level, message, fields) => {
    if (isShown(message)) return "";
    const describe = Object.hasOwn(WORDS, message) ? WORDS[message] : undefined;
    if (!describe) return prettyLine(time, level, message, fields);
    const margin = " ".repeat(CLOCK.length);
    return describe(fields)
      .map((line, index) => `${index === 0 ? time.slice(11, 19) : margin}  ${printable(line)}\n`)
      .join("");
  };
}

const CLOCK = "00:00:00";

/** Without control characters; the margin stays. */
function printable(line: string): string {
  return line.startsWith("  ") ? `  ${plainLine(line)}` : plainLine(line);
}
