/** One HTTP exchange as a careful client sees it: an answer, or a connection that broke, and where in a stream it did. */
import { Agent, request } from "node:http";

export type Sent = {
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type Got = {
  /** 0: no answer at all. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The answer broke off. */
  readonly isCut: boolean;
};

const MAX_MS = 30_000;

export class Exchanger {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** Never rejects. `isEnough`: the text holds all that is wanted, though the stream goes on. */
  send({ method, headers, body }: Sent, isEnough?: (text: string) => boolean): Promise<Got> {
    return new Promise((resolve) => {
      let status = 0;
      let got: Got["headers"] = {};
      let text = "";
      const finish = (isCut: boolean) => {
        clearTimeout(timer);
        resolve({ status, headers: got, text, isCut });
        if (isCut) outgoing.destroy();
      };
      const outgoing = request(this.#url, { method, headers, agent: this.#agent }, (response) => {
        status = response.statusCode ?? 0;
        got = response.headers;
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
          if (!isEnough?.(text)) return;
          finish(false);
          outgoing.destroy();
        });
        response.on("end", () => finish(!response.complete));
        response.on("error", () => finish(true));
        response.on("close", () => finish(!response.complete));
      });
      const timer = setTimeout(() => finish(true), MAX_MS);
      outgoing.on("error", () => finish(true));
      outgoing.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

export type SseEvent = { readonly id: string | undefined; readonly data: string };

/** The whole events in a stream's text. */
export function eventsIn(text: string): SseEvent[] {
  const whole = text.slice(0, text.lastIndexOf("\n\n") + 2);
  return whole
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      const lines = block.split("\n");
      const of = (name: string) =>
        lines
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).trim())
          .join("\n");
      const id = of("id");
      return { id: id === "" ? undefined : id, data: of("data") };
    });
}
