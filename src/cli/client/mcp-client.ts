/** A small MCP client of 2025-11-25: it asks, hears of progress, and may be asked. */
import { VERSION } from "../../server/version.ts";
import { isObject, type JsonObject, objectOf, objectsIn, textOf } from "../json.ts";
import type { Channel, Hear } from "./channel.ts";

const REVISION = "2025-11-25";
const MAX_PAGES = 1_000;

/** The other side answered with an error. */
export class RpcFault extends Error {
  override readonly name = "RpcFault";
  readonly code: number;
  readonly data: unknown;

  constructor(error: JsonObject) {
    super(textOf(error.message) ?? "an error without a message");
    this.code = typeof error.code === "number" ? error.code : 0;
    this.data = error.data;
  }
}

export type ClientOptions = {
  readonly connect: (hear: Hear) => Channel;
  readonly capabilities?: JsonObject;
  /** Answers a question of the other side; undefined: it is not known here. */
  readonly onAsk?: (method: string, params: JsonObject) => Promise<JsonObject> | undefined;
  readonly onNotice?: (method: string, params: JsonObject) => void;
};

type Waiting = { resolve(result: JsonObject): void; reject(error: unknown): void };

export class McpClient {
  readonly #options: ClientOptions;
  readonly #channel: Channel;
  readonly #waiting = new Map<unknown, Waiting>();
  #lastId = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#channel = options.connect((message) => this.#hear(message));
  }

  /** Opens the session. Resolves with what the server says about itself. */
  async open(): Promise<JsonObject> {
    const result = await this.request("initialize", {
      protocolVersion: REVISION,
      capabilities: this.#options.capabilities ?? {},
      clientInfo: { name: "isthmus-cli", version: VERSION },
    });
    this.#channel.agree(textOf(result.protocolVersion) ?? REVISION);
    await this.notify("notifications/initialized");
    return result;
  }

  /** Rejects with RpcFault or NoAnswer. `onSent` learns the id, which is what a cancel names. */
  request(method: string, params: JsonObject, onSent?: (id: number) => void): Promise<JsonObject> {
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    this.#waiting.set(id, { resolve, reject });
    onSent?.(id);
    this.#channel.send({ jsonrpc: "2.0", id, method, params }).catch((error: unknown) => {
      this.#waiting.delete(id);
      reject(error);
    });
    return promise;
  }

  notify(method: string, params?: JsonObject): Promise<void> {
    return this.#channel.send({ jsonrpc: "2.0", method, ...(params && { params }) });
  }

  /** Every entry of a list, page by page, with the `_meta` of its first page. */
  async list(method: string, member: string): Promise<{ entries: JsonObject[]; meta: JsonObject }> {
    const entries: JsonObject[] = [];
    let meta: JsonObject = {};
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const result = await this.request(method, cursor === undefined ? {} : { cursor });
      if (page === 0) meta = objectOf(result._meta);
      entries.push(...objectsIn(result[member]));
      cursor = textOf(result.nextCursor);
      if (cursor === undefined) break;
    }
    return { entries, meta };
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  #hear(message: JsonObject): void {
    const { id, method } = message;
    if (typeof method !== "string") this.#settle(message);
    else if (id === undefined) this.#options.onNotice?.(method, objectOf(message.params));
    else void this.#answer(id, method, objectOf(message.params));
  }

  #settle({ id, result, error }: JsonObject): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (isObject(error)) waiting?.reject(new RpcFault(error));
    else waiting?.resolve(objectOf(result));
  }

  async #answer(id: unknown, method: string, params: JsonObject): Promise<void> {
    const answer = method === "ping" ? Promise.resolve({}) : this.#options.onAsk?.(method, params);
    const outcome =
      answer === undefined
        ? { error: { code: -32601, message: `This client does not know ${method}.` } }
        : { result: await answer };
    // Whoever asked may be gone by now; then there is nobody to tell.
    await this.#channel.send({ jsonrpc: "2.0", id, ...outcome }).catch(() => {});
  }
}
