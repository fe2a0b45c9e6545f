/**
 * What a server has asked and is to be answered, where each answer is a request of its own: a few at a time, or a server that
 * asks on and on and does not take the answers would have us open sockets for all of them.
 */
import type { UpstreamFailure } from "./transport.ts";

const AT_ONCE = 4;
/** How much may wait. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Of each that waits, beside its text. */
const OF_EACH_BYTES = 128;

type Sent = Promise<UpstreamFailure | undefined>;
type Waiting = { readonly text: string; readonly resolve: (sent: Sent | undefined) => void };

export class OwedAnswers {
  readonly #post: (text: string) => Sent;
  readonly #onTooMany: () => void;
  readonly #waiting: Waiting[] = [];
  #bytes = 0;
  #underWay = 0;

  /** `onTooMany`: so much waits that the server is not to be served any longer. */
  constructor(post: (text: string) => Sent, onTooMany: () => void) {
    this.#post = post;
    this.#onTooMany = onTooMany;
  }

  /** Resolves when the server took it, or to why it did not; with nothing where nobody wants to know any more. */
  send(text: string): Sent {
    if (this.#underWay < AT_ONCE) return this.#start(text);
    const { promise, resolve } = Promise.withResolvers<UpstreamFailure | undefined>();
    this.#waiting.push({ text, resolve });
    this.#bytes += text.length + OF_EACH_BYTES;
    if (this.#bytes > MAX_BYTES) this.#onTooMany();
    return promise;
  }

  /** What waits is not sent any more. */
  close(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(undefined);
    this.#bytes = 0;
  }

  #start(text: string): Sent {
    this.#underWay++;
    return this.#post(text).finally(() => {
      this.#underWay--;
      this.#next();
    });
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (!next) return;
    this.#bytes -= next.text.length + OF_EACH_BYTES;
    next.resolve(this.#start(next.text));
  }
}
