/** What a running gateway tells operators, and takes from them. */

import { NoAnswer } from "../client/channel.ts";
import { type ConnectFlags, gatewayUrl } from "../client/gateway-url.ts";
import { type HttpAnswer, jsonOf } from "../client/http-get.ts";
import { httpSend } from "../client/http-send.ts";
import { nobodyThere } from "../client/nobody-there.ts";
import { refusalOf } from "../client/refusal.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf, objectsIn, textOf } from "../json.ts";
import { PROGRAM } from "../program-name.ts";
import { type OperatorKey, operatorName } from "./operator-key.ts";
import { lookAsOperator, proofToLook, sendAsOperator } from "./send-as-operator.ts";
import { signProof } from "./sign-proof.ts";

/** As many as a gateway lists at most. */
const MAX_LISTED = 200;
/** Of what waits, with all arguments: callers who ask for much must not hide what others ask for. */
const MAX_LIST_BYTES = 128 * 1024 * 1024;

/** What is unset is not asked for. `id`: how it begins. */
export type WantedApprovals = Readonly<
  Partial<Record<"state" | "user" | "principal" | "id" | "limit", string | undefined>>
>;

/** Of one gateway. Everything throws Ending where it is not there, or says no. */
export class GatewayApi {
  readonly #flags: ConnectFlags;
  readonly #url: URL;

  constructor(flags: ConnectFlags) {
    this.#flags = flags;
    this.#url = gatewayUrl(flags);
  }

  /** In the gateway's order, the newest first; `total`: how many there are beside these, too. */
  async approvals(wanted: WantedApprovals): Promise<{ readonly found: readonly JsonObject[]; readonly total: number }> {
    const query = new URLSearchParams({ limit: String(MAX_LISTED) });
    for (const [name, value] of Object.entries(wanted)) if (value !== undefined) query.set(name, value);
    const answer = await this.#ask({ path: `/api/approvals?${query.toString()}`, maxBytes: MAX_LIST_BYTES });
    const { approvals, total } = objectOf(jsonOf(answer));
    const found = objectsIn(approvals);
    return { found, total: typeof total === "number" ? total : found.length };
  }

  /** By its whole id; undefined: there is none. */
  async approval(id: string): Promise<JsonObject | undefined> {
    const answer = await this.#ask({ path: `/api/approvals/${id}`, mayMiss: true, maxBytes: MAX_LIST_BYTES });
    return answer.status === 404 ? undefined : objectOf(jsonOf(answer));
  }

  /** What has become of the call, and of its caller where that is known. */
  async confirm(key: OperatorKey, approval: JsonObject, decision: "approve" | "deny"): Promise<JsonObject> {
    const proof = { type: "operator_signature", format: "jws", value: signProof(key, approval, decision) };
    // Where the gateway asks who brings it, whoever runs it is known by their word, which is taken for its API only.
    if (await this.#asksOperator()) return await this.#decideBy(approval, decision, { proof });
    const params = { confirmation_id: approval.confirmation_id, decision, proof };
    const body = { jsonrpc: "2.0", id: 1, method: "mcpax/confirm", params };
    const { result, error } = objectOf(jsonOf(await this.#ask({ path: "/mcpax/confirm", body })));
    if (error === undefined) return objectOf(result);
    const { message, data } = objectOf(error);
    throw problemOf(textOf(message) ?? "", textOf(objectOf(data).reason) ?? "", KEY_PROBLEMS);
  }

  async #asksOperator(): Promise<boolean> {
    const asked = { method: "POST", url: new URL("/api/approvals", this.#url) };
    return (await proofToLook(asked).catch(() => undefined)) !== undefined;
  }

  /** By the word of whoever has the token. */
  async decide(approval: JsonObject, decision: "approve" | "deny"): Promise<JsonObject> {
    return await this.#decideBy(approval, decision);
  }

  async #decideBy({ confirmation_id }: JsonObject, decision: "approve" | "deny", body?: object): Promise<JsonObject> {
    const path = `/api/approvals/${textOf(confirmation_id)}/${decision}`;
    const answer = await this.#ask({ path, body: body ?? {}, isOperator: true, mayRefuse: true });
    if (answer.status === 200) return objectOf(jsonOf(answer));
    const [, reason = ""] = /(\w+)$/.exec(textOf(objectOf(jsonOf(answer)).detail) ?? "") ?? [];
    throw problemOf(`HTTP ${answer.status}`, reason, body ? KEY_PROBLEMS : WORD_PROBLEMS);
  }

  async #ask({ path, mayMiss, mayRefuse, isOperator, ...order }: ApiOrder): Promise<HttpAnswer> {
    const url = new URL(path, this.#url);
    let answer: HttpAnswer;
    try {
      const send = isOperator ? sendAsOperator : order.body ? httpSend : lookAsOperator;
      answer = await send({ method: order.body ? "POST" : "GET", url, ...order });
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      throw await nobodyThere(url, error, this.#flags);
    }
    if (answer.status === 200 || (mayMiss && answer.status === 404)) return answer;
    if (mayRefuse && (answer.status === 403 || answer.status === 409)) return answer;
    throw (
      refusalOf(url, answer, "operator") ??
      new Ending("unreachable", [`${url.href} answered HTTP ${answer.status}; is another program there?`])
    );
  }
}

type ApiOrder = {
  readonly path: string;
  readonly body?: object;
  /** Whether whoever runs the gateway asks, where nobody is named in the environment. */
  readonly isOperator?: boolean;
  readonly maxBytes?: number;
  /** Whether it may be that there is nothing. */
  readonly mayMiss?: boolean;
  /** Whether it may be that the gateway says no. */
  readonly mayRefuse?: boolean;
};

/** The gateway trusts another key. */
export class UntrustedKey extends Ending {}

/** Why somebody's word is no yes, and what to do. */
const WORD_PROBLEMS: Readonly<Record<string, string>> = {
  not_proved: `the gateway does not know you as an operator: put an operator's token into ISTHMUS_TOKEN ("${PROGRAM} token create --user NAME --role operator" makes one)`,
  not_an_operator: `this token is no operator's: "${PROGRAM} token create --user NAME --role operator" makes one`,
  own_principal:
    "nobody approves what they ask for themselves: put another operator's token into ISTHMUS_TOKEN, or have somebody else sign",
  made_by_requester: `whoever asks for this has made or rotated your token, so it may be in their hands: "${PROGRAM} token create" beside the gateway makes one that is not`,
  evidence_too_weak:
    'this call needs a signature: sign with --key, or write evidence = "operator" under [gate] and have it asked for anew',
  definition_changed: "the tool has changed since somebody was asked: its caller is told to ask anew",
};

/** The same of a signature. It says whose it is by the account in which it was made, whatever key that has. */
const KEY_PROBLEMS: Readonly<Record<string, string>> = {
  ...WORD_PROBLEMS,
  own_principal: `this signature is ${operatorName()}'s, by the account that you use, and a caller of that name asked for this: nobody approves what they ask for themselves, so somebody else must sign it in an account of their own`,
  own_key:
    "whoever asked for this has the key, as holders in [[gate.anchors]] say: nobody approves what they ask for themselves, so sign with somebody else's",
};

function problemOf(message: string, reason: string, texts: typeof WORD_PROBLEMS): Ending {
  const lines = [texts[reason] ?? refusalText(message, reason)];
  return reason === "unknown_trust_anchor" ? new UntrustedKey("failure", lines) : new Ending("failure", lines);
}

function refusalText(message: string, reason: string): string {
  if (reason === "unknown_trust_anchor") {
    return `the gateway does not trust this key; "${PROGRAM} operator init" prints the lines for its isthmus.toml`;
  }
  return `the gateway refuses: ${message} (${reason})`;
}
