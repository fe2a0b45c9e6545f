/**
 * Sends requests with the credentials of one holder. What the server refuses is tried once more with others, if there are
 * any; whoever sent it hears only how that ended.
 */
import { type CredentialHolder, GatewayError, type Refusal, type UpstreamCredentials } from "../../contract/index.ts";
import type { HttpClient, HttpExchange, HttpFailure, HttpHandler, HttpSend, ResponseHead } from "./http/index.ts";

const MAX_REFUSAL_BYTES = 64 * 1024;

/** As whom a server is called. */
export type Authorization = { readonly credentials: UpstreamCredentials; readonly holder: CredentialHolder };

/** The same sockets, with the holder's credentials. Closing it is the business of whoever owns the sockets. */
export function authorizedClient(client: HttpClient, authorization: Authorization): HttpClient {
  return {
    send: (request, handler) => new AuthorizedExchange(client, authorization, request, handler),
    close: () => undefined,
    get stats() {
      return client.stats;
    },
  };
}

// Invariants:
//  1. The handler hears one end: `onEnd` or `onError`.
//  2. While `#refusal` is set, what the server still says is its refusal, and nobody hears it.
class AuthorizedExchange implements HttpExchange, HttpHandler {
  readonly #client: HttpClient;
  readonly #authorization: Authorization;
  readonly #request: HttpSend;
  readonly #handler: HttpHandler;
  #inner: HttpExchange | undefined;
  #refusal: Refusal | undefined;
  #sent = "";
  #refusedBytes = 0;
  #wasRefused = false;
  #isPaused = false;
  #isOver = false;

  constructor(client: HttpClient, authorization: Authorization, request: HttpSend, handler: HttpHandler) {
    this.#client = client;
    this.#authorization = authorization;
    this.#request = request;
    this.#handler = handler;
    this.#start();
  }

  #start(): void {
    const { credentials, holder } = this.#authorization;
    try {
      const lines = credentials.headersFor(holder);
      if (typeof lines === "string") this.#send(lines);
      else lines.then(this.#send, this.#fail);
    } catch (error) {
      // Never before the constructor has returned.
      queueMicrotask(() => this.#fail(error));
    }
  }

  readonly #send = (lines: string): void => {
    if (this.#isOver) return;
    this.#sent = lines;
    this.#inner = this.#client.send({ ...this.#request, head: this.#request.head + lines }, this);
    if (this.#isPaused) this.#inner.pause();
  };

  readonly #fail = (error: unknown): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onError({ reason: "connect", sent: false, stale: false, cause: GatewayError.from(error) });
  };

  pause(): void {
    this.#isPaused = true;
    if (!this.#refusal) this.#inner?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#inner?.resume();
  }

  abort(): void {
    if (this.#isOver) return;
    if (this.#inner && !this.#refusal) return this.#inner.abort();
    this.#isOver = true; // before the refusal hears that it was cut
    this.#inner?.abort();
    this.#handler.onError({ reason: "aborted", sent: false, stale: false });
  }

  onHead(head: ResponseHead): void {
    const { status } = head;
    if (status !== 401 && status !== 403) return this.#handler.onHead(head);
    const challenge = head.header("www-authenticate") ?? "";
    this.#refusal = { status, challenge, sent: this.#sent, isRepeat: this.#wasRefused };
    // Its body says nothing to us, but has to be read to its end.
    this.#inner?.resume();
  }

  onData(text: string): void {
    if (!this.#refusal) return this.#handler.onData(text);
    this.#refusedBytes += text.length;
    if (this.#refusedBytes > MAX_REFUSAL_BYTES) this.#inner?.abort();
  }

  onEnd(): void {
    if (this.#isOver) return;
    const refusal = this.#refusal;
    if (!refusal) {
      this.#isOver = true;
      return this.#handler.onEnd();
    }
    this.#refusal = undefined;
    this.#inner = undefined;
    this.#wasRefused = true;
    const { credentials, holder } = this.#authorization;
    credentials.refused(holder, refusal).then(() => this.#start(), this.#fail);
  }

  onError(failure: HttpFailure): void {
    if (this.#isOver) return;
    if (this.#refusal) return this.onEnd();
    this.#isOver = true;
    this.#handler.onError(failure);
  }
}
