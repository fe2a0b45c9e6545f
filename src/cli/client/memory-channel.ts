/** A gateway in this process, spoken to as `isthmus stdio` is: one message per line, through memory instead of pipes. */
import { PassThrough } from "node:stream";
import { linesOf } from "../../contract/index.ts";
import type { Gateway } from "../../server/gateway-types.ts";
import { isObject, type JsonObject, parseJson } from "../json.ts";
import type { Channel, Hear } from "./channel.ts";

export class MemoryChannel implements Channel {
  readonly #gateway: Gateway;
  readonly #input = new PassThrough();
  #closing: Promise<void> | undefined;

  constructor(gateway: Gateway, hear: Hear) {
    this.#gateway = gateway;
    const output = new PassThrough();
    void this.#listen(output, hear);
    void gateway.serveStdio({ input: this.#input, output, catalog: "" });
  }

  async #listen(output: PassThrough, hear: Hear): Promise<void> {
    for await (const line of linesOf(output)) {
      const message = parseJson(line);
      if (isObject(message)) hear(message);
    }
  }

  agree(): void {}

  send(message: JsonObject): Promise<void> {
    this.#input.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  #end(): Promise<void> {
    this.#input.end();
    return this.#gateway.close();
  }
}
