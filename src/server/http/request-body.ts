/** Takes a body apart as it comes. Chunks are read as strictly as heads: see request-head.ts. */
import { GatheredText } from "../../contract/index.ts";
import { RequestFault } from "./request-fault.ts";
import type { RequestFraming } from "./request-head.ts";

type State = "length" | "chunk-size" | "chunk" | "chunk-end" | "trailers" | "done";

const CHUNK_SIZE = /^([0-9A-Fa-f]{1,12})(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?$/;
const TRAILERS = /^(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n$/;
const MAX_CHUNK_LINE = 1024;
const MAX_TRAILER_BYTES = 8 * 1024;
/** Of all chunks of a body together: they mean nothing to anybody. */
const MAX_EXTENSION_BYTES = 16 * 1024;

export class RequestBody {
  /** Bytes of the body so far, dropped or not. */
  bytes = 0;
  #state: State;
  #left = 0;
  #extensions = 0;
  readonly #kept = new GatheredText();
  #isDropped: boolean;

  constructor(framing: RequestFraming, isDropped: boolean) {
    this.#state = framing === "chunked" ? "chunk-size" : framing > 0 ? "length" : "done";
    this.#left = framing === "chunked" ? 0 : framing;
    this.#isDropped = isDropped;
  }

  /** What has come so far, unless it is dropped. */
  get text(): string {
    return this.#kept.text;
  }

  get keptBytes(): number {
    return this.#kept.length;
  }

  get isDone(): boolean {
    return this.#state === "done";
  }

  get isDropped(): boolean {
    return this.#isDropped;
  }

  /** Keeps nothing from now on. */
  drop(): void {
    this.#isDropped = true;
    this.#kept.take();
  }

  /** Takes what it can from `at` on and says where it stopped. Throws RequestFault. */
  take(text: string, at: number): number {
    let from = at;
    while (from < text.length && this.#state !== "done") {
      const next = this.#step(text, from);
      if (next === from) break;
      from = next;
    }
    return from;
  }

  #step(text: string, at: number): number {
    switch (this.#state) {
      case "length":
      case "chunk":
        return this.#takeBytes(text, at);
      case "chunk-size":
        return this.#takeSize(text, at);
      case "chunk-end":
        return this.#takeEnd(text, at);
      case "trailers":
        return this.#takeTrailers(text, at);
      case "done":
        return at;
    }
  }

  #takeBytes(text: string, at: number): number {
    const end = Math.min(text.length, at + this.#left);
    this.#left -= end - at;
    this.bytes += end - at;
    if (!this.#isDropped) this.#kept.add(text.slice(at, end));
    if (this.#left === 0) this.#state = this.#state === "chunk" ? "chunk-end" : "done";
    return end;
  }

  #takeSize(text: string, at: number): number {
    const end = text.indexOf("\r\n", at);
    if ((end < 0 ? text.length : end) - at > MAX_CHUNK_LINE) throw new RequestFault(400, "a chunk size is too long");
    if (end < 0) return at;
    const size = CHUNK_SIZE.exec(text.slice(at, end))?.[1];
    if (size === undefined) throw new RequestFault(400, "a chunk size is not valid");
    this.#extensions += end - at - size.length;
    if (this.#extensions > MAX_EXTENSION_BYTES) throw new RequestFault(400, "the chunk extensions are too large");
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? "trailers" : "chunk";
    return end + 2;
  }

  #takeEnd(text: string, at: number): number {
    if (text.length - at < 2 && text.charCodeAt(at) === 13) return at;
    if (!text.startsWith("\r\n", at)) throw new RequestFault(400, "a chunk is longer than its size");
    this.#state = "chunk-size";
    return at + 2;
  }

  /** Read for their end only: nothing in them counts. */
  #takeTrailers(text: string, at: number): number {
    const isEmpty = text.startsWith("\r\n", at);
    const found = isEmpty ? at : text.indexOf("\r\n\r\n", at);
    const end = found < 0 ? text.length : found + (isEmpty ? 2 : 4);
    if (end - at > MAX_TRAILER_BYTES) throw new RequestFault(431, "the trailers are too large");
    if (found < 0) return at;
    if (!TRAILERS.test(text.slice(at, end))) throw new RequestFault(400, "the trailers are not valid");
    this.#state = "done";
    return end;
  }
}
