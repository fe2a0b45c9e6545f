/** A gateway that is there and does not let us: what it says about it, and what to set. */

import type { Role } from "../../contract/index.ts";
import { ownToken } from "../../server/config/index.ts";
import { Ending } from "../ending.ts";
import { objectOf, objectsIn, parseJson, textOf } from "../json.ts";
import { cut, plainLine } from "../output/plain.ts";
import { PROGRAM } from "../program-name.ts";

/** Of a line that somebody else wrote. */
const MAX_QUOTED = 200;

/** Begins the type of every problem document of the gateway. */
const PROBLEM_TYPE = "urn:isthmus:error:";

type Refused = { readonly status: number; readonly text: string };

/** Undefined: it is no question of who asks. `role`: what a token must have for this; unset: any token will do. */
export function refusalOf(url: URL, { status, text }: Refused, role?: Role): Ending | undefined {
  if (status !== 401 && status !== 403) return undefined;
  const reason = reasonOf({ status, text });
  const token = ownToken();
  if (status === 403) {
    const instead = token === undefined ? "" : ", or unset it, if you run this gateway";
    const hint = /\b(?:role|scope)\b/.test(reason) ? [`put a token that has it into ISTHMUS_TOKEN${instead}`] : [];
    return new Ending("refused", [`the gateway at ${url.origin} does not let you: ${reason}`, ...hint]);
  }
  const maker = `"${PROGRAM} token create --user NAME${role === undefined ? "" : ` --role ${role}`}"`;
  if (token === undefined) {
    return new Ending("refused", [
      `the gateway at ${url.origin} asks who you are: ${reason}`,
      `put a token into ISTHMUS_TOKEN; whoever runs the gateway makes one with ${maker}`,
    ]);
  }
  return new Ending("refused", [
    `the gateway at ${url.origin} did not accept the token in ISTHMUS_TOKEN: ${reason}`,
    `put another one there; ${maker} makes one`,
  ]);
}

/** What is wrong where with what was sent, a line for each; empty: it does not say. */
export function problemsIn(text: string): readonly string[] {
  return objectsIn(objectOf(bodyOf(text)).problems).map(
    ({ path, message }) => `${(textOf(path) ?? "").replace(/^\/(body\/)?/, "")}: ${textOf(message) ?? ""}`,
  );
}

/** Why somebody was turned away, in whatever words there are: it may be no gateway that says so, but a proxy before it. */
export function reasonOf({ status, text }: Refused): string {
  const said = text.startsWith("<") ? /<title>([^<]*)/i.exec(text)?.[1] : /\S.*/.exec(text)?.[0];
  return reasonIn(text) ?? [`HTTP ${status}`, ...(said ? [cut(plainLine(said), MAX_QUOTED)] : [])].join(": ");
}

/** Whether a gateway says so, by its API: every problem that it has bears its mark. */
export function isProblem(text: string): boolean {
  return textOf(objectOf(bodyOf(text)).type)?.startsWith(PROBLEM_TYPE) ?? false;
}

/** What a gateway says where no session can be opened; undefined: it is no gateway that says so. */
export function gatewayWords(text: string): string | undefined {
  const { jsonrpc } = objectOf(bodyOf(text));
  return jsonrpc === "2.0" || isProblem(text) ? reasonIn(text) : undefined;
}

/** In the words of JSON-RPC, of problem details, or of OAuth. */
export function reasonIn(text: string): string | undefined {
  const { error, detail, title, error_description: described } = objectOf(bodyOf(text));
  return textOf(objectOf(error).message) ?? textOf(detail) ?? textOf(described) ?? textOf(title);
}

/** Undefined: it is no JSON. */
function bodyOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
