/** A Streamable HTTP session: one keep-alive connection, one POST per message. */
import { checkInitialized, INITIALIZE, INITIALIZED, PROTOCOL_VERSION, postHead } from "./handshake.ts";
import { readJsonText } from "./http-answer.ts";
import { HttpConnection } from "./http-connection.ts";

export class StreamableSession {
  readonly #url: URL;
  readonly #connection: HttpConnection;
  readonly #ownsConnection: boolean;
  #head: string;
  /** As the server issued it; empty when it issued none. */
  id = "";

  /** With a `connection` given, many sessions can take turns on it; its giver closes it. */
  constructor(url: string, connection?: HttpConnection) {
    this.#url = new URL(url);
    this.#ownsConnection = connection === undefined;
    this.#connection = connection ?? new HttpConnection(Number(this.#url.port));
    this.#head = postHead(this.#url, "");
  }

  async open(): Promise<void> {
    const answer = await this.#connection.request(`${this.#head}${INITIALIZE.length}\r\n\r\n${INITIALIZE}`);
    if (answer.status !== 200) throw new Error(`initialize: HTTP ${answer.status}`);
    checkInitialized(readJsonText(answer));
    this.id = /\r\nmcp-session-id: *([^\r]+)/i.exec(answer.head)?.[1] ?? "";
    this.#head = postHead(this.#url, this.#sessionHeaders());
    const accepted = await this.#connection.request(`${this.#head}${INITIALIZED.length}\r\n\r\n${INITIALIZED}`);
    if (accepted.status >= 300) throw new Error(`notifications/initialized: HTTP ${accepted.status}`);
  }

  exchange(body: string, onText: (text: string) => void, onError: (error: Error) => void): void {
    this.#connection.send(
      `${this.#head}${body.length}\r\n\r\n${body}`,
      (answer) => {
        if (answer.status === 200) onText(readJsonText(answer));
        else onError(new Error(`HTTP ${answer.status}: ${answer.body.toString("utf8", 0, 200)}`));
      },
      onError,
    );
  }

  /** The request that opens this session's GET stream. */
  streamRequest(): string {
    return `GET ${this.#url.pathname} HTTP/1.1\r\nHost: ${this.#url.host}\r\nAccept: text/event-stream\r\n${this.#sessionHeaders()}\r\n`;
  }

  renew(): void {
    this.#connection.close();
  }

  close(): void {
    if (this.#ownsConnection) this.#connection.close();
  }

  #sessionHeaders(): string {
    return `MCP-Protocol-Version: ${PROTOCOL_VERSION}\r\n${this.id === "" ? "" : `Mcp-Session-Id: ${this.id}\r\n`}`;
  }
}
