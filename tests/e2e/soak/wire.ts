/** HTTP as a client sees it that may vanish at any moment: answers are read message by message, and can be left alone. */
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import type { RpcMessage } from "../kit/rpc.ts";

export type WireRequest = {
  readonly url: string;
  readonly method?: "POST" | "GET" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Only the first half of the body is ever sent. */
  readonly isCut?: boolean;
};

const LIMIT_MS = 20_000;

/** The connections of all clients. */
export class Wire {
  readonly #agent = new Agent({ keepAlive: true });

  send(order: WireRequest): Exchange {
    return new Exchange(order, this.#agent);
  }

  /** Lets go of the connections that nobody uses. */
  close(): void {
    this.#agent.destroy();
  }
}

/** One request and what comes back for it. */
export class Exchange {
  readonly #request: ClientRequest;
  readonly #response: Promise<IncomingMessage>;

  constructor({ url, method = "POST", headers, body = "", isCut = false }: WireRequest, agent: Agent) {
    const length = Buffer.byteLength(body);
    this.#request = request(url, {
      agent,
      method,
      timeout: LIMIT_MS,
      headers: {
        accept: "application/json, text/event-stream",
        ...(method === "POST" && { "content-type": "application/json", "content-length": length }),
        ...headers,
      },
    });
    this.#response = new Promise((resolve, reject) => {
      this.#request.once("response", resolve);
      this.#request.on("error", reject);
    });
    // Whoever vanishes does not look at what becomes of the answer.
    this.#response.catch(() => undefined);
    this.#request.once("timeout", () => this.#request.destroy(new Error(`no answer in ${LIMIT_MS} ms: ${body}`)));
    if (isCut) this.#request.write(body.slice(0, length / 2));
    else this.#request.end(body);
  }

  /** The connection is gone, whatever was under way on it. */
  vanish(): void {
    this.#request.destroy();
  }

  async header(name: string): Promise<string | undefined> {
    const value = (await this.#response).headers[name];
    return typeof value === "string" ? value : undefined;
  }

  /** Every message as it comes, of a JSON answer or of an event stream. */
  async *messages(): AsyncGenerator<RpcMessage> {
    const response = await this.#response;
    response.setEncoding("utf8");
    if (response.headers["content-type"]?.startsWith("text/event-stream") !== true) {
      let whole = "";
      for await (const piece of response) whole += piece;
      if (whole !== "") yield JSON.parse(whole);
      return;
    }
    let rest = "";
    for await (const piece of response) {
      const events = (rest + piece).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) {
        const data = event.split("\n").find((line) => line.startsWith("data: {"));
        if (data !== undefined) yield JSON.parse(data.slice("data: ".length));
      }
    }
  }

  /** Reads to the end. The last message, or undefined when there was none. */
  async last(): Promise<RpcMessage | undefined> {
    let last: RpcMessage | undefined;
    for await (const message of this.messages()) last = message;
    return last;
  }
}
