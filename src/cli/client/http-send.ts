/** Asks the gateway to do something beside MCP. */
import type { LookupAddress } from "node:dns";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { authorizationHeader } from "./authorization.ts";
import { noAnswerFor } from "./channel.ts";
import type { HttpAnswer } from "./http-get.ts";

const MAX_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

export type HttpOrder = {
  readonly method: string;
  readonly url: URL;
  readonly body?: unknown;
  readonly timeoutMs?: number;
  /** Of the answer; default 4 MiB. */
  readonly maxBytes?: number;
  /** Where the host of the URL is; unset: it is looked up. */
  readonly address?: LookupAddress;
  /** Whoever is asked is not told who asks. */
  readonly isAnonymous?: boolean;
  /** Header lines that show who asks for this body. */
  readonly sign?: (text: string) => Readonly<Record<string, string>>;
};

/** Rejects with NoAnswer. */
export function httpSend(order: HttpOrder): Promise<HttpAnswer> {
  const { method, url, body, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, address, isAnonymous, sign } = order;
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = {
    Accept: "application/json",
    ...(!isAnonymous && authorizationHeader()),
    ...sign?.(text),
    ...(text !== "" && { "Content-Type": "application/json" }),
  };
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(noAnswerFor(error));
    const request = url.protocol === "https:" ? requestHttps : requestHttp;
    const signal = AbortSignal.timeout(timeoutMs);
    const sent = request(
      url,
      { method, headers, agent: false, signal, ...(address && knownAt(address)) },
      (response) => {
        let received = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          received += chunk;
          if (received.length > maxBytes) response.destroy(new Error(`the answer is larger than ${maxBytes} bytes`));
        });
        const { statusCode: status = 0, headers: answered } = response;
        const challenge = answered["www-authenticate"];
        response.on("end", () => resolve({ status, text: received, challenge })).on("error", fail);
      },
    );
    sent.on("error", fail);
    sent.end(text);
  });
}

/** Options of a request to a host whose address is known. */
export function knownAt({ address, family }: LookupAddress): { readonly lookup: LookupFunction } {
  return { lookup: (_host, { all }, tell) => (all ? tell(null, [{ address, family }]) : tell(null, address, family)) };
}
