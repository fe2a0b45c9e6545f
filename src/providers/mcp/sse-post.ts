import type { Timer, Timers } from "../../contract/index.ts";
import type { HttpClient, HttpExchange } from "./http/index.ts";
import { startPost } from "./http-link.ts";
import type { RequestStream, UpstreamFailure } from "./transport.ts";

/** How long a server may take to accept what it has answered already. */
const LINGER_MS = 2000;
/** A longer one may not have been read yet, and what is not sent stays in our memory. */
const MAX_LINGER_BYTES = 64 * 1024;

/**
 * The POST of one request whose answer comes on the stream of its session. It has no limit of its own, since some servers accept
 * a request only when they have answered it; it ends with the request, whatever the server does.
 */
export class SsePost implements RequestStream {
  readonly #timers: Timers;
  readonly #bytes: number;
  readonly #exchange: HttpExchange;
  /** Nobody wants to know what becomes of it. */
  #isOver = false;
  #timer: Timer | undefined;

  /** `path`: of the session. `onEnd`: nothing is left of it, and that is why the request failed, if it was still waited for. */
  constructor(
    client: HttpClient,
    { path, text }: { readonly path: string; readonly text: string },
    timers: Timers,
    onEnd: (failure: UpstreamFailure | undefined) => void,
  ) {
    this.#timers = timers;
    this.#bytes = text.length;
    this.#exchange = startPost(client, { head: "", body: text, hasSession: true, path }, (failure) => {
      this.#timer?.cancel();
      onEnd(this.#isOver ? undefined : failure);
    });
  }

  pause(): void {}

  resume(): void {}

  abort(): void {
    this.#isOver = true;
    this.#exchange.abort();
  }

  /** The answer has come. */
  answered(): void {
    this.#isOver = true;
    if (this.#bytes > MAX_LINGER_BYTES) this.#exchange.abort();
    else this.#timer ??= this.#timers.after(LINGER_MS, () => this.#exchange.abort());
  }
}
