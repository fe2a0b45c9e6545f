/** A call that waits, for whoever decides about it: nothing in it is hidden, joined or spelled otherwise than in the call. */
import { createHash } from "node:crypto";
import { showUnseen } from "../../contract/index.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf, textOf } from "../json.ts";

/** On one line. Of blanks only a single plain space stands as it is: others could look like it, or like nothing. */
export function seen(value: unknown): string {
  const escaped = (blank: string) => `\\u{${(blank.codePointAt(0) ?? 0).toString(16)}}`;
  return showUnseen(textOf(value) ?? "").replace(/(?<= ) |[^\S ]/gu, escaped);
}

/** Throws Ending where the arguments that are shown are not those that would be signed. */
export function refuseOtherText({ arguments_text, args_sha256 }: JsonObject, doubt: string): void {
  const digest = createHash("sha256")
    .update(textOf(arguments_text) ?? "")
    .digest("base64url");
  if (digest !== args_sha256) throw new Ending("failure", [`what is shown is not what would be signed; ${doubt}`]);
}

export function callLines(approval: JsonObject): string[] {
  return [
    seen(approval.tool),
    `  arguments  ${seen(approval.arguments_text)}`,
    `  caller     ${callerOf(approval)}`,
    `  reason     ${seen(approval.reason)}, needs ${seen(approval.evidence)}`,
    `  expires    ${seen(approval.expires_at)}`,
    `  id         ${seen(approval.confirmation_id)}`,
  ];
}

export function callerOf({ requester }: JsonObject): string {
  const { principal, user, tenant } = objectOf(requester);
  return [seen(user) || seen(principal), seen(tenant)].join(" of ");
}
