/** What operators ask of whichever gateway answers. */
import { setTimeout as wait } from "node:timers/promises";
import { Exchanger } from "../clients/exchange.ts";

export type ApiAnswer = {
  /** 0: nobody has answered. */
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
};

const PATIENCE_MS = 30_000;

export class Api {
  readonly #origin: string;
  readonly #token: string;

  constructor(origin: string, token: string) {
    this.#origin = origin;
    this.#token = token;
  }

  async ask(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: object): Promise<ApiAnswer> {
    const exchanger = new Exchanger(`${this.#origin}${path}`, { token: this.#token });
    const got = await exchanger.send({
      method,
      headers: { "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    exchanger.close();
    if (got.isCut) return { status: 0, body: {} };
    return { status: got.status, body: got.text.startsWith("{") ? (JSON.parse(got.text) as ApiAnswer["body"]) : {} };
  }

  /** Until a gateway has done it. 404 is an answer, too: what is gone was taken away by the try before. */
  async insist(method: "POST" | "PUT" | "DELETE", path: string, body?: object): Promise<ApiAnswer> {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await this.ask(method, path, body);
      if ((answer.status >= 200 && answer.status < 300) || answer.status === 404) return answer;
      if (performance.now() > until || (answer.status >= 400 && answer.status < 500)) {
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      }
      await wait(50);
    }
  }
}
