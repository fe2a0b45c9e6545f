import { ERROR_CODES } from "../../src/contract/error.ts";
import { type Generator, type Page, page, REFERENCE, table } from "./page.ts";

type ErrorEntry = { retry: "never" | "later" | "caller"; message: string; cause?: string; cure?: string };

const RETRY = {
  never: "never: the same call fails again",
  later: "later: the same call may succeed after a while",
  caller: "caller: only the caller can tell whether a repeat is safe",
} as const;

export const errorsGenerator: Generator = { name: "errors", pages: async () => errorPages(ERROR_CODES) };

/** One page that lists the codes, and one page per code for links from messages. */
export function errorPages(codes: Readonly<Record<string, ErrorEntry>>): Page[] {
  const entries = Object.entries(codes);
  const rows = entries.map(([code, { retry, message }]) => [`[\`${code}\`](errors/${code}.md)`, retry, message]);
  return [
    page(
      `${REFERENCE}/errors.md`,
      "# Errors",
      "Every way a call can fail. The code is stable; the message may become clearer.",
      table(["code", "retry", "message"], rows),
    ),
    ...entries.map(([code, entry]) => page(`${REFERENCE}/errors/${code}.md`, ...describeError(code, entry))),
  ];
}

function describeError(code: string, { retry, message, cause, cure }: ErrorEntry): string[] {
  const blocks = [`# ${code}`, message, `**Retry** ${RETRY[retry]}.`];
  if (cause !== undefined) blocks.push(`**Cause.** ${cause}`);
  if (cure !== undefined) blocks.push(`**What to do.** ${cure}`);
  return blocks;
}
