/** HTTP as a client has it that may vanish at any moment: each request on a connection of its own. */
import { type ClientRequest, type IncomingMessage, request } from "node:http";

export type Order = {
  readonly url: string;
  readonly method?: "POST" | "GET" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly message?: object;
};

export type Answer = { readonly status: number; readonly session: string | undefined; readonly text: string };

/** No request of this test is meant to take longer. */
const LIMIT_MS = 20_000;

function open({ url, method = "POST", headers }: Order, body: string): ClientRequest {
  const accept = method === "GET" ? "text/event-stream" : "application/json, text/event-stream";
  return request(url, {
    method,
    agent: false,
    headers: {
      accept,
      ...(body !== "" && { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
      ...headers,
    },
  });
}

const bodyOf = ({ message }: Order): string => (message ? JSON.stringify({ jsonrpc: "2.0", ...message }) : "");

/** Sends the whole request and reads the whole answer. */
export function send(order: Order): Promise<Answer> {
  const body = bodyOf(order);
  return new Promise((resolve, reject) => {
    const sent = open(order, body);
    sent.setTimeout(LIMIT_MS, () => sent.destroy(new Error(`no answer in ${LIMIT_MS} ms: ${body}`)));
    sent.on("error", reject);
    sent.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, session: sessionOf(response), text }));
    });
    sent.end(body);
  });
}

function sessionOf(response: IncomingMessage): string | undefined {
  const id = response.headers["mcp-session-id"];
  return typeof id === "string" ? id : undefined;
}

/** Sends the request, or half of it, and drops the connection after that time, whatever was under way on it. */
export async function sendAndVanish(order: Order, afterMs: number, isHalf = false): Promise<void> {
  const body = bodyOf(order);
  const sent = open(order, body);
  sent.on("error", () => {});
  sent.on("response", (response) => response.on("error", () => {}).resume());
  if (isHalf) sent.write(body.slice(0, body.length / 2));
  else sent.end(body);
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  sent.destroy();
}
