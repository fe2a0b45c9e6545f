/** One HTTP exchange as a careful client sees it: an answer, or a connection that broke, and where in a stream it did. */
import { Agent, request } from "node:http";
import { type Attempt, type Attempts, endAttempt } from "../governed/attempts.ts";

export type Sent = {
  readonly method: "POST" | "GET" | "DELETE" | "PUT";
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
  /** Where it was a call of somebody whose calls are watched. */
  readonly attempt?: Attempt;
};

/** Who sends it, where gateways ask. */
export type Caller = {
  readonly token: string;
  readonly attempts?: Attempts;
};

const MAX_MS = 30_000;

export class Exchanger {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #url: string;
  readonly #caller: Caller | undefined;

  constructor(url: string, caller?: Caller) {
    this.#url = url;
    this.#caller = caller;
  }

  /** Never rejects. `isEnough`: the text holds all that is wanted, though the stream goes on. */
  send({ method, headers, body }: Sent, isEnough?: (text: string) => boolean): Promise<Got> {
    const { token, attempts } = this.#caller ?? {};
    const watched = attempts?.begin(body);
    const allHeaders = { ...headers, ...watched?.header, ...(token && { authorization: `Bearer ${token}` }) };
    return new Promise((resolve) => {
      let status = 0;
      let got: Got["headers"] = {};
      let text = "";
      const finish = (isCut: boolean) => {
        clearTimeout(timer);
        if (watched) endAttempt(watched.attempt, watched.id, text);
        resolve({ status, headers: got, text, isCut, ...(watched && { attempt: watched.attempt }) });
        if (isCut) outgoing.destroy();
      };
      const outgoing = request(this.#url, { method, headers: allHeaders, agent: this.#agent }, (response) => {
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
