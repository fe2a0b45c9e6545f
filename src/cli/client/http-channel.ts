/**
 * Streamable HTTP of 2025-11-25, as far as a short-lived client needs it. Not on fetch: that gives up on an answer that
 * takes five minutes, and loading it costs more than everything else here.
 */
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { createSseDecoder } from "../../wire/sse/index.ts";
import { isObject, type JsonObject, objectOf, parseJson, textOf } from "../json.ts";
import { authorizationHeader } from "./authorization.ts";
import { type Channel, type Hear, NoAnswer, noAnswerFor } from "./channel.ts";
import { gatewayWords, reasonIn, refusalOf } from "./refusal.ts";

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export type HttpChannelOptions = {
  readonly url: URL;
  readonly hear: Hear;
  /** Ends whatever is open. */
  readonly signal: AbortSignal;
};

export class HttpChannel implements Channel {
  readonly #options: HttpChannelOptions;
  #session: string | undefined;
  #version: string | undefined;

  constructor(options: HttpChannelOptions) {
    this.#options = options;
  }

  agree(version: string): void {
    this.#version = version;
  }

  async send(message: JsonObject): Promise<void> {
    const response = await this.#open("POST", JSON.stringify(message));
    this.#session ??= textOf(response.headers["mcp-session-id"]);
    const isRequest = message.id !== undefined && message.method !== undefined;
    if (isRequest) await this.#readAnswer(response, message.id);
    else response.resume();
  }

  /** Tells the server that the session is over; what it says to that does not matter. */
  async close(): Promise<void> {
    if (this.#session === undefined) return;
    const ended = this.#open("DELETE", "").then((response) => response.resume());
    this.#session = undefined;
    await ended.catch(() => {});
  }

  #open(method: "POST" | "DELETE", body: string): Promise<IncomingMessage> {
    const { url, signal } = this.#options;
    const headers = {
      Accept: "application/json, text/event-stream",
      ...authorizationHeader(),
      ...(body !== "" && { "Content-Type": "application/json" }),
      ...(this.#session !== undefined && { "Mcp-Session-Id": this.#session }),
      ...(this.#version !== undefined && { "Mcp-Protocol-Version": this.#version }),
    };
    return new Promise((resolve, reject) => {
      const request = url.protocol === "https:" ? requestHttps : requestHttp;
      const sent = request(url, { method, headers, agent: false, signal }, resolve);
      sent.on("error", (error) => reject(noAnswerFor(error)));
      sent.end(body);
    });
  }

  async #readAnswer(response: IncomingMessage, id: unknown): Promise<void> {
    let isAnswered = false;
    const hear = (message: unknown) => {
      if (!isObject(message)) return;
      if (message.method === undefined && message.id === id) isAnswered = true;
      this.#options.hear(message);
    };
    const isStream = response.headers["content-type"]?.startsWith("text/event-stream") ?? false;
    if (isStream) await readStream(response, hear);
    else this.#readBody(response.statusCode ?? 0, await readText(response), hear);
    if (!isAnswered) throw new NoAnswer("the connection ended without an answer", false);
  }

  #readBody(status: number, text: string, hear: (message: unknown) => void): void {
    let body: unknown;
    try {
      body = parseJson(text);
    } catch {}
    if (status !== 200 && objectOf(body).id == null) {
      const refusal = refusalOf(this.#options.url, { status, text });
      throw refusal ?? new NoAnswer(reasonIn(text) ?? `HTTP ${status}`, false, gatewayWords(text), status === 404);
    }
    if (body === undefined) throw new NoAnswer(`HTTP ${status} without a message of MCP`, false);
    hear(body);
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  await readChunks(response, (chunk) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new NoAnswer("the answer is larger than 64 MiB", false);
    chunks.push(chunk);
  });
  return Buffer.concat(chunks).toString("utf8");
}

async function readStream(response: IncomingMessage, hear: (message: unknown) => void): Promise<void> {
  const decoder = createSseDecoder({
    maxEventBytes: MAX_ANSWER_BYTES,
    onEvent: ({ data }) => {
      if (data !== "") hear(parseJson(Buffer.from(data, "latin1").toString("utf8")));
    },
  });
  await readChunks(response, (chunk) => decoder.push(chunk.toString("latin1")));
}

async function readChunks(response: IncomingMessage, take: (chunk: Buffer) => void): Promise<void> {
  try {
    for await (const chunk of response) take(Buffer.from(chunk));
  } catch (error) {
    throw error instanceof NoAnswer ? error : noAnswerFor(error);
  }
}
