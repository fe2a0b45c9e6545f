import type { Timer, Timers } from "../../contract/index.ts";
import type { Message } from "../../wire/jsonrpc/index.ts";
import { routeNotification, routeRequest } from "./incoming.ts";
import type { LargeAnswer } from "./large-answer.ts";
import { type RequestSink, type RequestStream, type UpstreamFailure, UpstreamFault } from "./transport.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** The time for an answer is over, and the server may still be there. */
export class LateAnswer extends UpstreamFault {
  constructor(timeoutMs: number) {
    super({ kind: "lost", message: `The server did not answer within ${timeoutMs / 1000} s.` });
  }
}

/** A request of our own that waits for its answer, for a limited time. */
export class PendingAnswer implements RequestSink {
  id = "";
  readonly answer: Promise<Message>;
  stream: RequestStream | undefined;
  readonly #session: UpstreamSession;
  readonly #timer: Timer;
  readonly #resolve: (message: Message) => void;
  readonly #reject: (fault: UpstreamFault) => void;

  /** Absent where a long answer is read like any other. It then gets the answer instead. */
  readonly onLarge?: (answer: LargeAnswer) => void;

  constructor(
    session: UpstreamSession,
    timers: Timers,
    timeoutMs: number,
    takeLarge: ((answer: LargeAnswer) => void) | undefined,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    this.answer = promise;
    promise.catch(() => undefined); // it may fail before anybody waits for it
    this.#session = session;
    this.#resolve = resolve;
    this.#reject = reject;
    if (takeLarge)
      this.onLarge = (answer) => {
        this.#settle();
        takeLarge(answer);
      };
    this.#timer = timers.after(timeoutMs, () => this.#fail(new LateAnswer(timeoutMs)));
  }

  onMessage(message: Message): void {
    if (message.kind === "notification") routeNotification(this.#session, message, undefined);
    else if (message.kind === "request") routeRequest(this.#session, message, undefined);
    else {
      this.#settle();
      this.#resolve(message);
    }
  }

  onFailure(failure: UpstreamFailure): void {
    this.#fail(new UpstreamFault(failure));
  }

  #fail(fault: UpstreamFault): void {
    this.#settle();
    this.stream?.abort();
    this.#reject(fault);
  }

  #settle(): void {
    this.#timer.cancel();
    this.#session.forget(this.id);
  }
}
