/** Reads what the gateway says about itself beside MCP. */
import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import { parseJson } from "../json.ts";
import { authorizationHeader } from "./authorization.ts";
import { noAnswerFor } from "./channel.ts";

const MAX_BYTES = 4 * 1024 * 1024;

export type HttpAnswer = {
  readonly status: number;
  readonly text: string;
  /** How one may show who asks (WWW-Authenticate). */
  readonly challenge?: string | undefined;
};

/** Rejects with NoAnswer. */
export function httpGet(url: URL, timeoutMs: number): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(noAnswerFor(error));
    const get = url.protocol === "https:" ? getHttps : getHttp;
    const sent = get(
      url,
      { agent: false, headers: authorizationHeader(), signal: AbortSignal.timeout(timeoutMs) },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
          if (text.length > MAX_BYTES) response.destroy(new Error("the answer is larger than 4 MiB"));
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text })).on("error", fail);
      },
    );
    sent.on("error", fail);
  });
}

/** Undefined when what came is no JSON. */
export function jsonOf({ text }: HttpAnswer): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
