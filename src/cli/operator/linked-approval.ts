/**
 * A call that waits, as the page shows it whose link somebody was sent. The link may come from anybody: it gets no token, and
 * nothing is signed but what was shown.
 */
import { digestJson, JsonFault, textOf as wireText } from "../../contract/index.ts";
import { NoAnswer } from "../client/channel.ts";
import { type HttpAnswer, jsonOf } from "../client/http-get.ts";
import { httpSend } from "../client/http-send.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf, textOf } from "../json.ts";

const LINK = /^https?:\/\/[^/?#]+\/approvals\/([0-9a-f-]{36})$/;

export function isLink(text: string): boolean {
  return /^https?:\/\//.test(text);
}

/** Throws Ending. */
export async function linkedApproval(link: string): Promise<JsonObject> {
  const [, id] = LINK.exec(link) ?? [];
  if (id === undefined || !URL.canParse(link)) {
    throw new Ending("usage", ["expected a link such as https://gateway.example.com/approvals/<id>"]);
  }
  const answer = await lookAt(new URL(link));
  if (answer.status === 404) throw new Ending("failure", ["nothing waits there: it is over, decided, or never was"]);
  if (answer.status !== 200) throw new Ending("unreachable", [`${link} answered HTTP ${answer.status}`]);
  const approval = objectOf(jsonOf(answer));
  if (approval.confirmation_id !== id || !hasItsDigest(approval)) {
    throw new Ending("failure", ["what is shown there is not what would be signed; do not trust this link"]);
  }
  return approval;
}

async function lookAt(url: URL): Promise<HttpAnswer> {
  try {
    return await httpSend({ method: "GET", url, isAnonymous: true });
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    throw new Ending("unreachable", [`nobody answers at ${url.origin} (${error.message})`]);
  }
}

/** Whether the arguments that are shown are those that the digest is of. */
function hasItsDigest({ arguments_text, args_sha256 }: JsonObject): boolean {
  try {
    return digestJson(wireText(textOf(arguments_text) ?? "")) === args_sha256;
  } catch (error) {
    if (error instanceof JsonFault) return false;
    throw error;
  }
}
