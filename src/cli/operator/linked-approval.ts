/**
 * A call that waits, as the page shows it whose link somebody was sent. The link may come from anybody: it gets no token, and
 * nothing is signed but what was shown.
 */
import { NoAnswer } from "../client/channel.ts";
import { type HttpAnswer, jsonOf } from "../client/http-get.ts";
import { httpSend } from "../client/http-send.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf } from "../json.ts";
import { refuseOtherText } from "./shown-call.ts";

const LINK = /^https?:\/\/[^/?#]+\/approvals\/([0-9a-f-]{36})\.[\w-]{43}$/;

export function isLink(text: string): boolean {
  return /^https?:\/\//.test(text);
}

/** Throws Ending. */
export async function linkedApproval(link: string): Promise<JsonObject> {
  const [, id] = LINK.exec(link) ?? [];
  if (id === undefined || !URL.canParse(link)) {
    throw new Ending("usage", ["expected a link such as https://gateway.example.com/approvals/<id>.<secret>"]);
  }
  const answer = await lookAt(new URL(link));
  if (answer.status === 404) throw new Ending("failure", ["nothing waits there: it is over, decided, or never was"]);
  if (answer.status !== 200) throw new Ending("unreachable", [`${link} answered HTTP ${answer.status}`]);
  const approval = objectOf(jsonOf(answer));
  const doubt = "do not trust this link";
  if (approval.confirmation_id !== id) throw new Ending("failure", [`another call is shown there; ${doubt}`]);
  refuseOtherText(approval, doubt);
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
