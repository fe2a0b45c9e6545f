/** The response to one POST: a single JSON answer if that comes first, otherwise an event stream. */
import { type GatewayError, type HttpResponse, headerLine } from "../../../contract/index.ts";
import { routeCookie } from "../../../mechanisms/cluster/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import type { Outlet, OutletOwner } from "../outlet.ts";
import type { Accepts } from "./accept.ts";
import type { CallJournals } from "./call-journals.ts";
import type { HttpContext } from "./http-context.ts";
import type { Waiting } from "./late-answers.ts";
import { SseStream, type StreamOwner } from "./sse-stream.ts";
import { RETRY_LINE } from "./unavailable.ts";

export class HttpOutlet implements Outlet, Waiting, StreamOwner {
  readonly #http: HttpContext;
  readonly #response: HttpResponse;
  readonly #accepts: Accepts;
  readonly #primes: boolean;
  #owner: OutletOwner | undefined;
  #stream: SseStream | undefined;
  #opened: Session | undefined;
  #isOver = false;
  /** Tells which scopes the caller lacks, in header lines; unset: nobody could get it more. */
  stepUp: ((error: GatewayError) => string) | undefined = undefined;
  waitingSince = 0;
  before: Waiting | undefined = undefined;
  after: Waiting | undefined = undefined;

  constructor(http: HttpContext, response: HttpResponse, accepts: Accepts, primes: boolean) {
    this.#http = http;
    this.#response = response;
    this.#accepts = accepts;
    this.#primes = primes;
  }

  get canStream(): boolean {
    return this.#accepts.sse;
  }

  get isKept(): boolean {
    return this.#stream !== undefined;
  }

  get isGone(): boolean {
    return this.#response.isOver;
  }

  get namesSession(): boolean {
    return true;
  }

  opened(session: Session): void {
    this.#opened = session;
  }

  bind(owner: OutletOwner): void {
    this.#owner = owner;
    // Without a run there is nothing to come back to, so whoever waits need not once the client is gone.
    if (!owner.run) this.#response.onClose = () => this.left();
    if (this.#accepts.prefersSse) this.open(-1);
    else if (this.#accepts.sse) this.#http.lateAnswers.add(this);
  }

  openEarly(): void {
    // A client that left before there was a stream has no place to come back to.
    if (this.#response.isOver) return;
    this.open(this.#owner?.cursor ?? -1);
  }

  /** Starts the stream where the client has seen everything up to `cursor`. */
  open(cursor: number): SseStream {
    if (this.#stream) return this.#stream;
    this.#http.lateAnswers.remove(this);
    const stream = new SseStream(this.#response, this.#http.front.timers, this, this.#sessionLines());
    this.#stream = stream;
    const id = this.#eventId(cursor);
    if (id === undefined) stream.greet();
    else {
      stream.prime(id, this.#primes);
      this.#journal?.begin(this.#owner);
    }
    return stream;
  }

  /** `<run>.<cursor>`: where a client that comes back wants to go on. */
  #eventId(cursor: number): string | undefined {
    const run = this.#owner?.run;
    return run && !this.#owner?.session.isEphemeral ? `${run.id}.${cursor}` : undefined;
  }

  send(text: string, cursor: number): boolean {
    if (this.#isOver) return true;
    const stream = this.#stream ?? this.open((this.#owner?.cursor ?? 0) - 1);
    if (cursor >= 0) this.#journal?.sent(this.#owner, text, cursor);
    return stream.send(text, cursor < 0 ? undefined : this.#eventId(cursor));
  }

  get #journal(): CallJournals | undefined {
    return this.#owner?.session.isEphemeral ? undefined : this.#http.journals;
  }

  answer(text: string, cursor = -1, status = 200, error?: GatewayError): void {
    if (!this.#take()) return;
    if (this.#stream) {
      if (cursor >= 0) this.#journal?.answered(this.#owner, text, cursor);
      return this.#stream.end(text, cursor < 0 ? undefined : this.#eventId(cursor));
    }
    const stepUp = error === undefined ? undefined : this.stepUp?.(error);
    if (stepUp) return this.#response.answer(403, this.#lines() + stepUp, text);
    if (this.#accepts.prefersSse && status === 200)
      return new SseStream(this.#response, this.#http.front.timers, this, this.#sessionLines()).end(text);
    this.#response.answer(status, status === 503 ? this.#lines() + RETRY_LINE : this.#lines(), text);
  }

  answerParts(head: string, body: Buffer, tail: string): void {
    if (this.#stream || this.#accepts.prefersSse) return this.answer(head + body.toString("latin1") + tail);
    if (!this.#take()) return;
    this.#response.answerParts(200, this.#lines(), head, body, tail);
  }

  drop(): void {
    if (!this.#take()) return;
    if (this.#stream) return this.#stream.end();
    // Nothing was said yet and nothing will be: the emptiest answer that the transport has.
    this.#response.answer(202, "", "");
  }

  release(retryMs?: number): boolean {
    if (this.#isOver || !this.#primes || !this.#accepts.sse) return false;
    const cursor = this.#owner?.cursor ?? -1;
    const id = this.#eventId(cursor);
    if (id === undefined) return false;
    const stream = this.#stream ?? this.open(cursor);
    stream.prime(id, true, retryMs);
    this.drop();
    return true;
  }

  /** Whether this is still to be answered; from now on it is not. */
  #take(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#http.lateAnswers.remove(this);
    return true;
  }

  #lines(): string {
    return this.#opened === undefined ? JSON_LINE : JSON_LINE + this.#sessionLines();
  }

  /** Tells the client of the session that its request has opened, whatever form the answer has. */
  #sessionLines(): string {
    if (this.#opened === undefined) return "";
    const { id, catalog } = this.#opened;
    const { config, cluster } = this.#http.front;
    const path = catalog === "" ? "/mcp" : `/${encodeURIComponent(catalog)}/mcp`;
    const cookie = config.cookie && cluster ? routeCookie(cluster.member(), path) : "";
    return headerLine("Mcp-Session-Id", id) + cookie;
  }

  drained(): void {
    this.#owner?.resume();
  }

  left(): void {
    this.#isOver = true;
    this.#owner?.left();
  }
}

const JSON_LINE = "Content-Type: application/json\r\n";
