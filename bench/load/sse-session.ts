/** A 2024-11-05 HTTP+SSE session: POSTs on one connection, answers on the stream of another. */
import { connect, type Socket } from "node:net";
import { checkInitialized, INITIALIZE, INITIALIZED, postHead } from "./handshake.ts";
import { ChunkedDecoder } from "./http-answer.ts";
import { HttpConnection } from "./http-connection.ts";

type Waiting = { onText: (text: string) => void; onError: (error: Error) => void; text?: string; isAccepted?: boolean };

export class SseSession {
  readonly #url: URL;
  readonly #connection: HttpConnection;
  #stream: Socket | undefined;
  #pieces: string[] = [];
  #head = "";
  #waiting: Waiting | undefined;
  #onEndpoint: (path: string) => void = () => {};

  constructor(url: string) {
    this.#url = new URL(url);
    this.#connection = new HttpConnection(Number(this.#url.port));
  }

  async open(): Promise<void> {
    const path = await new Promise<string>((resolve, reject) => {
      this.#onEndpoint = resolve;
      this.#stream = this.#openStream(reject);
    });
    this.#head = postHead(new URL(path, this.#url), "");
    checkInitialized(await new Promise<string>((resolve, reject) => this.exchange(INITIALIZE, resolve, reject)));
    await this.#connection.request(`${this.#head}${INITIALIZED.length}\r\n\r\n${INITIALIZED}`);
  }

  exchange(body: string, onText: (text: string) => void, onError: (error: Error) => void): void {
    const waiting: Waiting = { onText, onError };
    this.#waiting = waiting;
    this.#connection.send(
      `${this.#head}${body.length}\r\n\r\n${body}`,
      (answer) => {
        if (answer.status >= 300) return onError(new Error(`HTTP ${answer.status}`));
        waiting.isAccepted = true;
        this.#settle(waiting);
      },
      onError,
    );
  }

  renew(): void {
    this.#connection.close();
  }

  close(): void {
    this.#waiting = undefined;
    this.#connection.close();
    this.#stream?.destroy();
  }

  /** The answer may come before the POST is accepted; the connection is free only after both. */
  #settle(waiting: Waiting): void {
    if (waiting.text === undefined || waiting.isAccepted !== true || this.#waiting !== waiting) return;
    this.#waiting = undefined;
    waiting.onText(waiting.text);
  }

  #openStream(onError: (error: Error) => void): Socket {
    const socket = connect({ port: Number(this.#url.port), host: "127.0.0.1", noDelay: true });
    const body = new ChunkedDecoder();
    let hasHead = false;
    socket.write(`GET ${this.#url.pathname} HTTP/1.1\r\nHost: ${this.#url.host}\r\nAccept: text/event-stream\r\n\r\n`);
    socket.on("data", (data) => {
      let rest = data;
      if (!hasHead) {
        const headEnd = data.indexOf("\r\n\r\n");
        if (headEnd === -1 || !data.toString("latin1", 0, 12).endsWith("200"))
          return onError(new Error("no event stream"));
        hasHead = true;
        rest = data.subarray(headEnd + 4);
      }
      body.feed(rest, (piece) => this.#feedEvents(piece.toString("latin1")));
    });
    socket.on("error", onError);
    socket.on("close", () => (this.#waiting?.onError ?? onError)(new Error("the event stream was closed")));
    return socket;
  }

  #feedEvents(piece: string): void {
    this.#pieces.push(piece);
    // A long message comes in many pieces: join them once, at its end.
    if (!piece.endsWith("\n") && !piece.includes("\n\n")) return;
    const events = this.#pieces.join("").split("\n\n");
    this.#pieces = [events.pop() ?? ""];
    for (const event of events) {
      const data = /^data: ?(.*)$/m.exec(event)?.[1] ?? "";
      if (event.startsWith("event: endpoint")) this.#onEndpoint(data);
      else if (this.#waiting !== undefined && data.includes('"id"')) {
        this.#waiting.text = data;
        this.#settle(this.#waiting);
      }
    }
  }
}
