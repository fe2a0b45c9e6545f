/** Where a yes is given to a call that waits, for whoever reads it in a terminal. */
import { PROGRAM } from "../program-name.ts";

/** As many characters of an id as are told apart among a few. */
const SHORT_ID = 4;

export type WaitingCall = {
  readonly id: string;
  /** On which it is decided; undefined: there is none, or it is not known here. */
  readonly page: string | undefined;
  /** What must be written before anybody can say yes; undefined: somebody can. */
  readonly missing: string | undefined;
  /** Of the gateway, where a verb does not find it by itself. */
  readonly url?: string | undefined;
};

export function whereToApprove({ id, page, missing, url }: WaitingCall): string {
  if (missing !== undefined) return `nobody here can say yes: ${missing}`;
  const command = `${PROGRAM} approve ${id.slice(0, SHORT_ID)}${url === undefined ? "" : ` --url ${url}`}`;
  return `${page === undefined ? "" : `open ${page} or `}run "${command}"`;
}
