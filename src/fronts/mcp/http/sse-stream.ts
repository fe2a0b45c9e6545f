import type { ServerResponse } from "node:http";
import type { Timer, Timers } from "../../../contract/index.ts";
import { encodeSse, encodeSseComment } from "../../../wire/sse/index.ts";

const KEEP_ALIVE_MS = 15_000;
const RETRY_MS = 1000;
const KEEP_ALIVE = encodeSseComment("keep-alive");

const HEAD = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

/** What the owner of a stream is told. `left`: the client is gone before the stream was ended. */
export interface StreamOwner {
  drained(): void;
  left(): void;
}

/** An open text/event-stream response. */
export class SseStream {
  readonly #response: ServerResponse;
  readonly #timers: Timers;
  #keepAlive: Timer;
  #isOver = false;

  /** Nothing is sent before the first write. */
  constructor(response: ServerResponse, timers: Timers, owner: StreamOwner) {
    this.#response = response;
    this.#timers = timers;
    response.writeHead(200, HEAD);
    response.on("drain", () => owner.drained());
    response.on("close", () => {
      if (this.#isOver) return;
      this.#stop();
      owner.left();
    });
    this.#keepAlive = this.#arm();
  }

  #arm(): Timer {
    return this.#timers.after(KEEP_ALIVE_MS, () => {
      if (this.#isOver) return;
      this.#response.write(KEEP_ALIVE, "latin1");
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
    return this.#isOver || this.#response.write(block, "latin1");
  }

  end(text?: string, id?: string): void {
    if (this.#isOver) return;
    this.#stop();
    if (text === undefined) this.#response.end();
    else this.#response.end(blockOf(text, id), "latin1");
  }
}

function blockOf(data: string, id?: string, event?: string): string {
  return encodeSse({ ...(event === undefined ? {} : { event }), ...(id === undefined ? {} : { id }), data });
}
