/**
 * Incremental parser of HTTP/1.1 responses over latin1 text. One object serves one socket for its whole life.
 * It refuses whatever two readers could understand differently, see response-head.ts.
 */

import type { LastHead, ParsedHead, ResponseHead } from "./response-head.ts";
import { isFieldSection } from "./response-head.ts";

export interface ResponseSink {
  onHead(head: ResponseHead): void;
  onData(text: string): void;
  /** The response is whole. `reusable` is false when the socket must be destroyed. */
  onResponseEnd(reusable: boolean, keepAliveMs: number | undefined): void;
  onInvalid(reason: "malformed" | "head-too-large", cause: Error): void;
}

// "stopped": nothing is expected; bytes that come now are a fault of the server.
type State = "stopped" | "head" | "length" | "chunk-size" | "chunk" | "chunk-end" | "trailers" | "close";

const CHUNK_SIZE = /^([0-9A-Fa-f]{1,12})(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?$/;
const MAX_CHUNK_LINE = 1024;
const MAX_INTERIM_RESPONSES = 16;

export class ResponseParser {
  readonly #sink: ResponseSink;
  readonly #maxHeadBytes: number;
  readonly #lastHead: LastHead;
  #state: State = "stopped";
  #pending = ""; // an unfinished head, chunk-size line or trailer section; bounded by maxHeadBytes
  #remaining = 0; // bytes left of a body with a length, or of the current chunk
  #interim = 0;
  #current: ParsedHead | undefined;

  constructor(sink: ResponseSink, maxHeadBytes: number, lastHead: LastHead) {
    this.#sink = sink;
    this.#maxHeadBytes = maxHeadBytes;
    this.#lastHead = lastHead;
  }

  /** Expects the response to a request that is being written now. */
  start(): void {
    this.#state = "head";
    this.#pending = "";
    this.#interim = 0;
  }

  /** Drops the response; nothing more is reported. */
  stop(): void {
    this.#state = "stopped";
    this.#pending = "";
  }

  get isStopped(): boolean {
    return this.#state === "stopped";
  }

  /** The connection ended. True when that is a proper end of the response, which is then reported. */
  finish(): boolean {
    if (this.#state !== "close") return false;
    this.#end("", 0);
    return true;
  }

  // The sink may stop the parser, or start the next response, from inside any callback. Hence: the state is settled before
  // each callback, and nothing is touched after the end was reported.
  push(chunk: string): void {
    let text = chunk;
    let at = 0;
    if (this.#pending !== "") {
      text = this.#pending + chunk;
      this.#pending = "";
    }
    while (at !== -1 && at < text.length) {
      switch (this.#state) {
        case "head":
          at = this.#takeHead(text, at);
          break;
        case "length":
        case "chunk":
          at = this.#takeBody(text, at);
          break;
        case "chunk-size":
          at = this.#takeChunkSize(text, at);
          break;
        case "chunk-end":
          at = this.#takeChunkEnd(text, at);
          break;
        case "trailers":
          at = this.#takeTrailers(text, at);
          break;
        case "close":
          this.#sink.onData(at === 0 ? text : text.slice(at));
          return;
        case "stopped":
          return;
      }
    }
  }

  // Each take function returns where to go on, or -1 when there is nothing more to do with this text.

  #takeHead(text: string, at: number): number {
    const found = text.indexOf("\r\n\r\n", at);
    const end = found === -1 ? text.length : found + 4;
    if (end - at > this.#maxHeadBytes)
      return this.#refuse(`the response head is larger than ${this.#maxHeadBytes} bytes`, "head-too-large");
    if (found === -1) return this.#keepHead(text, at);
    try {
      this.#current = this.#lastHead.parse(text.slice(at, end));
    } catch (cause) {
      this.#current = undefined;
      return this.#refuse(cause as Error);
    }
    const { head, framing } = this.#current;
    if (head.status < 200) {
      if (head.status === 101) return this.#refuse("the server switched protocols, which was not asked for");
      if (++this.#interim > MAX_INTERIM_RESPONSES) return this.#refuse("too many interim responses");
      return end;
    }
    this.#remaining = typeof framing === "number" ? framing : 0;
    this.#state = framing === "chunked" ? "chunk-size" : framing === "close" ? "close" : "length";
    this.#sink.onHead(head);
    if (this.#state === "length" && this.#remaining === 0) return this.#end(text, end);
    return end;
  }

  #takeBody(text: string, at: number): number {
    const isChunk = this.#state === "chunk";
    const end = Math.min(text.length, at + this.#remaining);
    this.#remaining -= end - at;
    if (isChunk && this.#remaining === 0) this.#state = "chunk-end";
    this.#sink.onData(at === 0 && end === text.length ? text : text.slice(at, end));
    if (this.#state === "length" && this.#remaining === 0) return this.#end(text, end);
    return end;
  }

  #takeChunkSize(text: string, at: number): number {
    const end = text.indexOf("\r\n", at);
    if ((end === -1 ? text.length : end) - at > MAX_CHUNK_LINE) return this.#refuse("a chunk size line is too long");
    if (end === -1) return this.#keep(text, at);
    const size = CHUNK_SIZE.exec(text.slice(at, end))?.[1];
    if (size === undefined) return this.#refuse("a chunk size is not valid");
    this.#remaining = Number.parseInt(size, 16);
    this.#state = this.#remaining === 0 ? "trailers" : "chunk";
    return end + 2;
  }

  #takeChunkEnd(text: string, at: number): number {
    if (text.length - at < 2 && text[at] === "\r") return this.#keep(text, at);
    if (!text.startsWith("\r\n", at)) return this.#refuse("a chunk is longer than its size");
    this.#state = "chunk-size";
    return at + 2;
  }

  #takeTrailers(text: string, at: number): number {
    if (text.startsWith("\r\n", at)) return this.#end(text, at + 2);
    const found = text.indexOf("\r\n\r\n", at);
    const end = found === -1 ? text.length : found + 4;
    if (end - at > this.#maxHeadBytes) return this.#refuse("the trailers are too large", "head-too-large");
    if (found === -1) return this.#keep(text, at);
    if (!isFieldSection(text.slice(at, end))) return this.#refuse("the trailers are not valid");
    return this.#end(text, end);
  }

  /** Bytes after the end of a response cannot belong to any request of ours, so such a socket is not used again. */
  #end(text: string, at: number): -1 {
    const { keepAlive = false, keepAliveMs, framing } = this.#current ?? {};
    const reusable = keepAlive && framing !== "close" && at === text.length;
    this.#state = "stopped";
    this.#sink.onResponseEnd(reusable, keepAliveMs);
    return -1;
  }

  /** Without these two tests a peer that does not speak HTTP would be waited for until it closes. */
  #keepHead(text: string, at: number): -1 {
    const start = text.slice(at, at + 5);
    if (!"HTTP/".startsWith(start)) return this.#refuse("the response is not HTTP");
    if (/(?<!\r)\n/.test(text)) return this.#refuse("a line of the response head ends without a carriage return");
    return this.#keep(text, at);
  }

  #keep(text: string, at: number): -1 {
    this.#pending = at === 0 ? text : text.slice(at);
    return -1;
  }

  #refuse(why: string | Error, reason: "malformed" | "head-too-large" = "malformed"): -1 {
    this.#state = "stopped";
    this.#sink.onInvalid(reason, typeof why === "string" ? new Error(why) : why);
    return -1;
  }
}
