/** Reads HTTP answers off a raw socket: content-length and chunked bodies, in whatever pieces they arrive. */

export type HttpAnswer = { status: number; head: string; body: Buffer };

/** Takes the payload out of a chunked body, piece by piece. */
export class ChunkedDecoder {
  #rest: Buffer = Buffer.alloc(0);
  #missing = 0;

  /** Hands every payload piece to `onData`; true once the last chunk has come. */
  feed(data: Buffer, onData: (piece: Buffer) => void): boolean {
    let buffer = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    this.#rest = Buffer.alloc(0);
    while (buffer.length > 0) {
      if (this.#missing > 0) {
        // The two bytes after a chunk belong to it and carry nothing.
        const taken = Math.min(this.#missing, buffer.length);
        const payload = Math.min(taken, Math.max(0, this.#missing - 2));
        if (payload > 0) onData(buffer.subarray(0, payload));
        this.#missing -= taken;
        buffer = buffer.subarray(taken);
        continue;
      }
      const lineEnd = buffer.indexOf("\r\n");
      if (lineEnd === -1) break;
      const size = Number.parseInt(buffer.toString("latin1", 0, lineEnd), 16);
      if (Number.isNaN(size)) throw new Error("a chunk without a size");
      if (size === 0) {
        if (buffer.length < lineEnd + 4) break;
        return true;
      }
      this.#missing = size + 2;
      buffer = buffer.subarray(lineEnd + 2);
    }
    this.#rest = buffer;
    return false;
  }
}

/** One answer at a time: feed it until it returns one. Bytes after the answer are an error, as nothing was pipelined. */
export class AnswerReader {
  #waiting: Buffer = Buffer.alloc(0);
  #status = 0;
  #head = "";
  #pieces: Buffer[] = [];
  #received = 0;
  #length = -1;
  #chunked: ChunkedDecoder | undefined;

  feed(data: Buffer): HttpAnswer | undefined {
    let body = data;
    if (this.#head === "") {
      const buffer = this.#waiting.length === 0 ? data : Buffer.concat([this.#waiting, data]);
      const headEnd = buffer.indexOf("\r\n\r\n");
      if (headEnd === -1) {
        this.#waiting = buffer;
        return undefined;
      }
      this.#readHead(buffer.toString("latin1", 0, headEnd));
      body = buffer.subarray(headEnd + 4);
    }
    return this.#isWhole(body) ? this.#take() : undefined;
  }

  #readHead(head: string): void {
    this.#head = head;
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length !== undefined) this.#length = Number(length);
    else if (/\r\ntransfer-encoding: *chunked/i.test(head)) this.#chunked = new ChunkedDecoder();
    else if (this.#status === 202 || this.#status === 204) this.#length = 0;
    else throw new Error(`an answer of unknown length: ${head.slice(0, 200)}`);
  }

  #isWhole(body: Buffer): boolean {
    if (this.#chunked !== undefined) return this.#chunked.feed(body, (piece) => this.#pieces.push(piece));
    if (body.length > 0) this.#pieces.push(body);
    this.#received += body.length;
    if (this.#received > this.#length) throw new Error("more bytes than the answer announced");
    return this.#received === this.#length;
  }

  #take(): HttpAnswer {
    const [only] = this.#pieces;
    const body = this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces);
    const answer = { status: this.#status, head: this.#head, body };
    this.#waiting = Buffer.alloc(0);
    this.#head = "";
    this.#pieces = [];
    this.#received = 0;
    this.#length = -1;
    this.#chunked = undefined;
    return answer;
  }
}

/** The JSON of an answer, whether it came as application/json or as the one message of an event stream. */
export function readJsonText(answer: HttpAnswer): string {
  const text = answer.body.toString("utf8", 0, answer.body.length);
  if (!/\r\ncontent-type: *text\/event-stream/i.test(answer.head)) return text;
  const messages = text.split("\n").filter((line) => line.startsWith("data:") && line.includes('"jsonrpc"'));
  return (messages.at(-1) ?? "").slice(5).trim();
}
