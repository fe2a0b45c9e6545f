/** A client of 2026-07-28: no handshake and no session; each request says who asks, in its body and in its headers. */
import { postHead } from "./handshake.ts";
import { readJsonText } from "./http-answer.ts";
import { HttpConnection } from "./http-connection.ts";

const VERSION = "2026-07-28";
const PREFIX = "io.modelcontextprotocol/";
const META = JSON.stringify({
  [`${PREFIX}protocolVersion`]: VERSION,
  [`${PREFIX}clientInfo`]: { name: "bench", version: "1.0.0" },
  [`${PREFIX}clientCapabilities`]: {},
});

/** Puts the envelope where this era wants it: at the end of `params`, which stand at the end of the request. */
export function withEnvelope(body: string): string {
  return body.includes('"params":{')
    ? `${body.slice(0, -2)},"_meta":${META}}}`
    : `${body.slice(0, -1)},"params":{"_meta":${META}}}`;
}

export class ModernSession {
  readonly #url: URL;
  readonly #connection: HttpConnection;
  /** Heads by method and name: as many as there are tools. */
  readonly #heads = new Map<string, string>();

  constructor(url: string) {
    this.#url = new URL(url);
    this.#connection = new HttpConnection(Number(this.#url.port));
  }

  async open(): Promise<void> {}

  exchange(body: string, onText: (text: string) => void, onError: (error: Error) => void): void {
    const request = withEnvelope(body);
    this.#connection.send(
      `${this.#headFor(body)}${request.length}\r\n\r\n${request}`,
      (answer) => {
        if (answer.status === 200) onText(readJsonText(answer));
        else onError(new Error(`HTTP ${answer.status}: ${answer.body.toString("utf8", 0, 200)}`));
      },
      onError,
    );
  }

  renew(): void {
    this.#connection.close();
  }

  close(): void {
    this.#connection.close();
  }

  #headFor(body: string): string {
    const start = body.slice(0, body.indexOf('"arguments"'));
    const method = /"method":"([^"]+)"/.exec(start)?.[1] ?? "";
    const name = /"name":"([^"]+)"/.exec(start)?.[1] ?? "";
    const known = this.#heads.get(method + name);
    if (known !== undefined) return known;
    const nameLine = name === "" ? "" : `Mcp-Name: ${name}\r\n`;
    const head = postHead(this.#url, `MCP-Protocol-Version: ${VERSION}\r\nMcp-Method: ${method}\r\n${nameLine}`);
    this.#heads.set(method + name, head);
    return head;
  }
}
