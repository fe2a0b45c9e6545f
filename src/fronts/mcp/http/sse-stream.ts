import type { HttpResponse, Timer, Timers } from "../../../contract/index.ts";
import { encodeSse, encodeSseComment } from "../../../wire/sse/index.ts";

const KEEP_ALIVE_MS = 15_000;
const RETRY_MS = 1000;
const KEEP_ALIVE = encodeSseComment("keep-alive");

const LINES = "Content-Type: text/event-stream\r\nCache-Control: no-cache, no-transform\r\nX-Accel-Buffering: no\r\n";

/** What the owner of a stream is told. `left`: the client is gone before the stream was ended. */
export interface StreamOwner {
  drained(): void;
  left(): void;
}

/** An open text/event-stream response. */
export class SseStream {
  readonly #response: HttpResponse;
  readonly #timers: Timers;
  #keepAlive: Timer;
  #isOver = false;
  #isFull = false;

  /** Nothing is sent before the first write. `lines`: further header lines. */
  constructor(response: HttpResponse, timers: Timers, owner: StreamOwner, lines = "") {
    this.#response = response;
    this.#timers = timers;
    response.open(200, LINES + lines);
    response.onDrain = () => {
      this.#isFull = false;
      owner.drained();
    };
    response.onClose = () => {
      this.#stop();
      owner.left();
    };
    this.#keepAlive = this.#arm();
  }

  #arm(): Timer {
    return this.#timers.after(KEEP_ALIVE_MS, () => {
      if (this.#isOver) return;
      if (!this.#isFull) this.#write(KEEP_ALIVE);
      this.#keepAlive = this.#arm();
    });
  }

  #stop(): void {
    this.#isOver = true;
    this.#keepAlive.cancel();
  }

  /** Lets a client that loses the stream before anything happened come back to this place. */
  prime(id: string, isEvent: boolean, retryMs = RETRY_MS): void {
    this.#write(isEvent ? encodeSse({ id, retry: retryMs, data: "" }) : `id: ${id}\n\n`);
  }

  /** Sends the head and something that readers skip, so that the client knows the stream is open. */
  greet(): void {
    this.#write(encodeSseComment());
  }

  /** False: the client is behind; `drained` will be called. */
  send(text: string, id?: string, event?: string): boolean {
    return this.#write(blockOf(text, id, event));
  }

  #write(block: string): boolean {
    if (this.#isOver) return true;
    this.#isFull = !this.#response.write(block);
    return !this.#isFull;
  }

  end(text?: string, id?: string): void {
    if (this.#isOver) return;
    this.#stop();
    this.#response.end(text === undefined ? "" : blockOf(text, id));
  }
}

function blockOf(data: string, id?: string, event?: string): string {
  return encodeSse({ ...(event === undefined ? {} : { event }), ...(id === undefined ? {} : { id }), data });
}
