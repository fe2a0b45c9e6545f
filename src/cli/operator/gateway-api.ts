/** What a running gateway tells operators, and takes from them. */
import { NoAnswer } from "../client/channel.ts";
import type { ConnectFlags } from "../client/connect.ts";
import { configuredUrl, parseGatewayUrl } from "../client/gateway-url.ts";
import { type HttpAnswer, jsonOf } from "../client/http-get.ts";
import { httpSend } from "../client/http-send.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf, objectsIn, textOf } from "../json.ts";
import { readOwnConfig } from "../own-config.ts";
import type { OperatorKey } from "./operator-key.ts";
import { signProof } from "./sign-proof.ts";

/** As many as a gateway lists at most. */
export const MAX_LISTED = 200;
/** Of what waits, with all arguments: callers who ask for much must not hide what others ask for. */
const MAX_LIST_BYTES = 128 * 1024 * 1024;

/** Of one gateway. Everything throws Ending where it is not there, or says no. */
export class GatewayApi {
  readonly #url: URL;

  constructor({ url, config }: ConnectFlags) {
    const found =
      url === undefined
        ? configuredUrl(readOwnConfig(config === undefined ? {} : { config }).config)
        : parseGatewayUrl(url);
    if (!found) throw new Ending("usage", ["gateway.listen: the config names no port; say where it is with --url"]);
    this.#url = found;
  }

  /** The newest first. */
  async approvals(state?: string, limit = MAX_LISTED): Promise<readonly JsonObject[]> {
    const which = state === undefined ? "" : `&state=${state}`;
    const answer = await this.#ask({ path: `/api/approvals?limit=${limit}${which}`, maxBytes: MAX_LIST_BYTES });
    return objectsIn(objectOf(jsonOf(answer)).approvals);
  }

  /** By its whole id; undefined: there is none. */
  async approval(id: string): Promise<JsonObject | undefined> {
    const answer = await this.#ask({ path: `/api/approvals/${id}`, mayMiss: true });
    return answer.status === 404 ? undefined : objectOf(jsonOf(answer));
  }

  /** What has become of the call. */
  async confirm(key: OperatorKey, approval: JsonObject, decision: "approve" | "deny"): Promise<string> {
    const proof = { type: "operator_signature", format: "jws", value: signProof(key, approval, decision) };
    const params = { confirmation_id: approval.confirmation_id, decision, proof };
    const body = { jsonrpc: "2.0", id: 1, method: "mcpax/confirm", params };
    const { result, error } = objectOf(jsonOf(await this.#ask({ path: "/mcpax/confirm", body })));
    if (error === undefined) return textOf(objectOf(result).status) ?? "";
    const { message, data } = objectOf(error);
    throw new Ending("failure", [refusalText(textOf(message) ?? "", textOf(objectOf(data).reason) ?? "")]);
  }

  async #ask({ path, mayMiss, ...order }: ApiOrder): Promise<HttpAnswer> {
    const url = new URL(path, this.#url);
    let answer: HttpAnswer;
    try {
      answer = await httpSend({ method: order.body ? "POST" : "GET", url, ...order });
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      throw new Ending("unreachable", [`no gateway answers at ${url.origin} (${error.message})`]);
    }
    if (answer.status === 200 || (mayMiss && answer.status === 404)) return answer;
    if (answer.status === 401 || answer.status === 403) {
      throw new Ending("failure", ["the gateway does not let you: put an operator's token into ISTHMUS_TOKEN"]);
    }
    throw new Ending("unreachable", [`${url.href} answered HTTP ${answer.status}; is another program there?`]);
  }
}

type ApiOrder = {
  readonly path: string;
  readonly body?: object;
  readonly maxBytes?: number;
  /** Whether it may be that there is nothing. */
  readonly mayMiss?: boolean;
};

function refusalText(message: string, reason: string): string {
  if (reason === "unknown_trust_anchor") {
    return 'the gateway does not trust this key; "isthmus operator init" prints the lines for its isthmus.toml';
  }
  return `the gateway refuses: ${message} (${reason})`;
}
