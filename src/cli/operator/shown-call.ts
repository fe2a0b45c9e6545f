/** A call that waits, for whoever decides about it: nothing in it is hidden, joined or spelled otherwise than in the call. */
import { createHash } from "node:crypto";
import { evidenceText, NOBODY_THERE, reasonText, showUnseen } from "../../contract/index.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf, textOf } from "../json.ts";

/** On one line. Of blanks only a single plain space stands as it is: others could look like it, or like nothing. */
export function seen(value: unknown): string {
  const escaped = (blank: string) => `\\u{${(blank.codePointAt(0) ?? 0).toString(16)}}`;
  return showUnseen(textOf(value) ?? "").replace(/(?<= ) |[^\S ]/gu, escaped);
}

/** Throws Ending where what is shown is not what would be signed. */
export function refuseOtherText({ arguments_text, also_sent_text, args_sha256 }: JsonObject, doubt: string): void {
  const [given, also] = [textOf(arguments_text) ?? "", textOf(also_sent_text)];
  const digest = createHash("sha256")
    .update(also === undefined ? given : `[${given},${also}]`)
    .digest("base64url");
  if (digest !== args_sha256) throw new Ending("failure", [`what is shown is not what would be signed; ${doubt}`]);
}

export function callLines(approval: JsonObject): string[] {
  return [
    seen(approval.tool),
    ...(approval.called_as === undefined ? [] : [`  called as  ${seen(approval.called_as)}`]),
    `  arguments  ${seen(approval.arguments_text)}`,
    ...(approval.also_sent_text === undefined ? [] : [`  also sent  ${seen(approval.also_sent_text)}`]),
    `  caller     ${callerOf(approval)}`,
    ...(approval.caller_connection === "closed" ? [`  connection ${NOBODY_THERE}`] : []),
    `  reason     ${seen(reasonText(textOf(approval.reason) ?? ""))}`,
    `  needs      ${seen(evidenceText(textOf(approval.evidence) ?? "", hasItems(approval.proof_types)))}`,
    `  expires    ${seen(approval.expires_at)}`,
    `  id         ${seen(approval.confirmation_id)}`,
  ];
}

function hasItems(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0;
}

export function callerOf({ requester }: JsonObject): string {
  const { principal, user, tenant } = objectOf(requester);
  return [seen(user) || seen(principal), seen(tenant)].join(" of ");
}
