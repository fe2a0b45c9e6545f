/** A stream of server-sent events that a test may stop reading, cut, or wait on. */
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import type { RpcMessage } from "../../e2e/kit/rpc.ts";

export type StreamEvent = { readonly id: string | undefined; readonly message: RpcMessage | undefined };

export type StreamOptions = {
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly message?: object;
};

export class EventStream {
  readonly events: StreamEvent[] = [];
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The other side has ended the stream. */
  isEnded = false;
  readonly #request: ClientRequest;
  readonly #response: IncomingMessage;
  #rest = "";

  constructor(sent: ClientRequest, response: IncomingMessage) {
    this.#request = sent;
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    response.on("end", () => {
      this.isEnded = true;
    });
    response.on("error", () => {});
  }

  static open(url: string, options: StreamOptions): Promise<EventStream> {
    const body = options.message && JSON.stringify({ jsonrpc: "2.0", ...options.message });
    const accept = options.method === "POST" ? "application/json, text/event-stream" : "text/event-stream";
    const headers = { accept, ...(body !== undefined && { "content-type": "application/json" }), ...options.headers };
    return new Promise((resolve, reject) => {
      const sent = request(url, { method: options.method, headers, agent: false });
      sent.on("response", (response) => resolve(new EventStream(sent, response)));
      sent.on("error", reject);
      sent.end(body);
    });
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = block.split("\n").map((line) => line.split(/: ?(.*)/s));
      const data = fields.filter(([name]) => name === "data").map(([, value]) => value);
      const text = data.join("\n");
      this.events.push({
        id: fields.find(([name]) => name === "id")?.[1],
        message: text === "" ? undefined : (JSON.parse(text) as RpcMessage),
      });
    }
  }

  get messages(): RpcMessage[] {
    return this.events.flatMap(({ message }) => message ?? []);
  }

  get lastId(): string | undefined {
    return this.events.findLast(({ id }) => id !== undefined)?.id;
  }

  /** The first message that fits. Rejects when the stream ends, or the time is over, without one. */
  async message(fits: (message: RpcMessage) => boolean, limitMs = 10_000): Promise<RpcMessage> {
    return this.#waitFor(() => this.messages.find(fits), limitMs);
  }

  /** The first event of the stream. */
  first(): Promise<StreamEvent> {
    return this.#waitFor(() => this.events[0], 10_000);
  }

  async #waitFor<T>(find: () => T | undefined, limitMs: number): Promise<T> {
    const deadline = performance.now() + limitMs;
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (this.isEnded || performance.now() > deadline) throw this.#missed(limitMs);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  #missed(limitMs: number): Error {
    const how = this.isEnded ? "before the stream ended" : `within ${limitMs} ms`;
    const seen = this.#rest + JSON.stringify(this.events.slice(-3)).slice(0, 300);
    return new Error(`HTTP ${this.status}: it did not come ${how}; last came ${seen}`);
  }

  /** Stops reading: the socket's buffers fill, and then the gateway's own. */
  stopReading(): void {
    this.#response.pause();
  }

  readAgain(): void {
    this.#response.resume();
  }

  /** The client goes away without a word. */
  cut(): void {
    this.#request.destroy();
  }

  [Symbol.dispose](): void {
    this.cut();
  }
}
