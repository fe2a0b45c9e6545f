/** An exchange with a server whose answer is taken in turns with what everybody else sends. */
import { type Pace, type PacedReader, PacedText } from "../../contract/index.ts";
import type { HttpClient, HttpExchange, HttpFailure, HttpHandler, HttpSend, ResponseHead } from "./http/index.ts";

export function sendPaced(client: HttpClient, send: HttpSend, handler: HttpHandler, pace: Pace): HttpExchange {
  return new PacedExchange(handler, pace).begin(client, send);
}

const broken = (cause: unknown): HttpFailure => ({ reason: "malformed", sent: true, stale: false, cause });

class PacedExchange implements HttpExchange, HttpHandler, PacedReader {
  readonly #handler: HttpHandler;
  readonly #text: PacedText;
  #exchange: HttpExchange | undefined;
  /** By whoever reads. */
  #isPaused = false;
  /** The answer is over, and a part of it is not taken yet. */
  #end: (() => void) | undefined;
  #cause: { readonly error: unknown } | undefined;

  constructor(handler: HttpHandler, pace: Pace) {
    this.#handler = handler;
    this.#text = new PacedText(pace, this);
  }

  begin(client: HttpClient, send: HttpSend): this {
    this.#exchange = client.send(send, this);
    return this;
  }

  pause(): void {
    this.#isPaused = true;
    this.#exchange?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#text.isResting) this.#exchange?.resume();
  }

  abort(): void {
    this.#text.stop();
    if (this.#end) this.#endWith({ reason: "aborted", sent: true, stale: false });
    else this.#exchange?.abort();
  }

  #endWith(failure: HttpFailure): void {
    this.#end = undefined;
    this.#handler.onError(failure);
  }

  onHead(head: ResponseHead): void {
    this.#handler.onHead(head);
  }

  onData(text: string): void {
    this.#text.push(text);
  }

  onEnd(): void {
    if (!this.#text.isResting) return this.#handler.onEnd();
    this.#end = () => {
      try {
        this.#handler.onEnd();
      } catch (cause) {
        this.#handler.onError(broken(cause));
      }
    };
  }

  onError(failure: HttpFailure): void {
    const told = this.#cause ? broken(this.#cause.error) : failure;
    const isHeld = this.#text.isResting && told === failure && failure.reason !== "aborted";
    if (isHeld) this.#end = () => this.#handler.onError(told);
    else {
      this.#text.stop();
      this.#handler.onError(told);
    }
  }

  onPart(part: string): void {
    this.#handler.onData(part);
  }

  onFull(): void {
    this.#exchange?.pause();
  }

  onFree(): void {
    const end = this.#end;
    this.#end = undefined;
    if (end) end();
    else if (!this.#isPaused) this.#exchange?.resume();
  }

  onBroken(error: unknown): void {
    if (this.#end) return this.#endWith(broken(error));
    this.#cause = { error };
    this.#exchange?.abort();
  }
}
