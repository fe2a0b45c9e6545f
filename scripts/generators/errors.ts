import { ERROR_CODES, type ErrorCode } from "../../src/contract/error.ts";
import { describeAnswers } from "./error-answers.ts";
import { type Generator, type Page, page, REFERENCE, table } from "./page.ts";

type ErrorEntry = {
  readonly retry: "never" | "later" | "caller";
  readonly message: string;
  readonly cause: string;
  readonly cure: string;
};

const RETRY = {
  never: "never: the same call fails again",
  later: "later: the same call may succeed after a while",
  caller: "caller: only the caller can tell whether a repeat is safe",
} as const;

/** Codes that nothing gives yet; they are in the table because fronts must already be able to say them. */
const NOT_YET: ReadonlySet<string> = new Set<ErrorCode>();

export const errorsGenerator: Generator = {
  name: "errors",
  pages: async () => errorPages(ERROR_CODES, describeAnswers),
};

/** One page that lists the codes, and one page per code for links from messages. */
export function errorPages<Code extends string>(
  codes: Readonly<Record<Code, ErrorEntry>>,
  answers: (code: Code) => readonly string[],
): Page[] {
  const names = Object.keys(codes) as Code[];
  const rows = names.map((code) => [`[\`${code}\`](errors/${code}.md)`, codes[code].retry, codes[code].message]);
  return [
    page(
      `${REFERENCE}/errors.md`,
      "# Errors",
      "Every way a call can fail. The code is stable; the message may become clearer.",
      table(["code", "retry", "message"], rows),
      "What a server answers by itself, an error included, is passed on as it is and has none of these codes.",
    ),
    ...names.map((code) =>
      page(`${REFERENCE}/errors/${code}.md`, ...describeError(code, codes[code]), ...answers(code), MORE),
    ),
  ];
}

const MORE = "More by symptom: [troubleshooting](../../guide/troubleshooting.md). All codes: [errors](../errors.md).";

function describeError(code: string, { retry, message, cause, cure }: ErrorEntry): string[] {
  return [
    `# ${code}`,
    message,
    ...(NOT_YET.has(code) ? ["This version never gives it; later ones will."] : []),
    `**Retry** ${RETRY[retry]}.`,
    `**Cause.** ${cause}`,
    `**What to do.** ${cure}`,
    "## What the client sees",
  ];
}
