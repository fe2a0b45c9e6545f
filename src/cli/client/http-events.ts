/** Follows what a gateway tells as it happens, until it ends or Ctrl-C. */
import { get as getHttp, type IncomingMessage } from "node:http";
import { get as getHttps } from "node:https";
import { createSseDecoder } from "../../wire/sse/index.ts";
import { Ending } from "../ending.ts";
import type { OperatorProof } from "../operator/send-as-operator.ts";
import { authorizationHeader } from "./authorization.ts";
import { noAnswerFor } from "./channel.ts";
import { knownAt } from "./http-send.ts";
import { refusalOf } from "./refusal.ts";

const MAX_EVENT_BYTES = 4 * 1024 * 1024;

/** `proof`: where whoever runs the gateway follows. Resolves when the gateway ends it. Rejects with Ending where it refuses, and with NoAnswer where it is not there. */
export async function httpEvents(url: URL, onData: (data: string) => void, proof?: OperatorProof): Promise<void> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const get = url.protocol === "https:" ? getHttps : getHttp;
    const headers = { Accept: "text/event-stream", ...authorizationHeader(), ...proof?.sign("") };
    get(url, { agent: false, headers, ...(proof && knownAt(proof.address)) }, resolve).on("error", (error: Error) =>
      reject(noAnswerFor(error)),
    );
  });
  const status = response.statusCode ?? 0;
  if (status !== 200) {
    response.resume();
    throw refusalOf(url, { status, text: "" }) ?? new Ending("unreachable", [`${url.origin} answered HTTP ${status}`]);
  }
  const decoder = createSseDecoder({
    maxEventBytes: MAX_EVENT_BYTES,
    onEvent: ({ data }) => {
      if (data !== "") onData(Buffer.from(data, "latin1").toString("utf8"));
    },
  });
  try {
    for await (const chunk of response) decoder.push(Buffer.from(chunk).toString("latin1"));
  } catch {
    // It was cut: the gateway ended, which is the end of what it can tell.
  }
}
