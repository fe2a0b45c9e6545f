/** A client of the gateway that looks until it sees what it waits for, and finds the links that it is given. */
import { setTimeout as sleep } from "node:timers/promises";
import { openSession, post, type RpcMessage, toolCall } from "../kit/rpc.ts";

const LOOKS = 100;
const PAUSE_MS = 50;

export class SessionClient {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  #id = 1;

  private constructor(url: string, headers: Record<string, string>) {
    this.#url = url;
    this.#headers = headers;
  }

  static async open(url: string, token?: string, capabilities: object = {}): Promise<SessionClient> {
    const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return new SessionClient(url, { ...authorization, ...(await openSession(url, capabilities, authorization)) });
  }

  async ask(method: string, params: object = {}): Promise<RpcMessage> {
    const { messages } = await post(this.#url, { id: this.#id++, method, params }, this.#headers);
    return messages.at(-1) ?? {};
  }

  async names(): Promise<string[]> {
    const { result } = await this.ask("tools/list");
    return ((result?.tools ?? []) as { name: string }[]).map(({ name }) => name);
  }

  /** The text of a tool's answer, whether it is an error or not. */
  async call(name: string): Promise<string> {
    const { result } = await this.ask("tools/call", toolCall(0, name, {}).params);
    return (result?.content as { text: string }[] | undefined)?.[0]?.text ?? "";
  }

  /** Lists until this tool is there. */
  async sees(name: string): Promise<void> {
    for (let looks = 0; looks < LOOKS; looks++) {
      if ((await this.names()).includes(name)) return;
      await sleep(PAUSE_MS);
    }
    throw new Error(`${name} was not listed; there are ${(await this.names()).join(", ")}`);
  }

  /** Where the user of this tool is sent. */
  async linkOf(name: string): Promise<string> {
    const text = await this.call(name);
    const [link] = /http:\/\/\S+\/oauth\/start\/\S+/.exec(text) ?? [];
    if (link === undefined) throw new Error(`expected a link, found ${text}`);
    return link;
  }

  /** Sends a message and gives what comes on its stream, as it comes. */
  async *stream(message: object): AsyncGenerator<RpcMessage> {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...this.#headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
    let text = "";
    for await (const part of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      text += part;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const [, data] = /^data: ?(\S.*)$/m.exec(text.slice(0, end)) ?? [];
        text = text.slice(end + 2);
        if (data !== undefined) yield JSON.parse(data);
      }
    }
  }

  async answer(id: RpcMessage["id"], result: object): Promise<void> {
    await post(this.#url, { id, result }, this.#headers);
  }
}
