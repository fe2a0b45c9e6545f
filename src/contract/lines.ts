/** A line is longer than its reader takes. */
export class LongLine extends Error {
  override readonly name = "LongLine";
}

/**
 * The lines of a text that comes in pieces. Only a line feed ends one, with a carriage return before it or without: readers of
 * Node also end lines at U+2028 and U+2029, which stand in JSON as they are. Throws LongLine after `maxLength` characters.
 */
export async function* linesOf(
  input: AsyncIterable<Uint8Array | string>,
  maxLength = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const begun = new BegunLine(maxLength);
  for await (const piece of input) {
    const ends = (typeof piece === "string" ? piece : decoder.decode(piece, { stream: true })).split("\n");
    const rest = ends.pop() ?? "";
    for (const end of ends) yield begun.add(end).take().replace(/\r$/, "");
    begun.add(rest);
  }
  const last = begun.add(decoder.decode()).take();
  if (last !== "") yield last;
}

/** Joined when it ends, and not with each piece: a long line would be copied again and again. */
class BegunLine {
  readonly #maxLength: number;
  #pieces: string[] = [];
  #length = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  add(piece: string): this {
    this.#length += piece.length;
    if (this.#length > this.#maxLength) throw new LongLine(`a line has more than ${this.#maxLength} characters`);
    if (piece !== "") this.#pieces.push(piece);
    return this;
  }

  take(): string {
    const line = this.#pieces.join("");
    this.#pieces = [];
    this.#length = 0;
    return line;
  }
}
