import { copyText, type GatheredBytes, GatheredText } from "../../../contract/index.ts";

export interface LineSplitter {
  /** Takes the next piece of the stream. Throws when a line is longer than the bound, or when `onLine` throws. */
  push(text: string): void;
}

export type LineSplitterOptions = {
  readonly maxLineBytes: number;
  onLine(line: string): void;
  /** Counts what is here of a line that is not whole; unset: nobody does. */
  readonly gathered?: GatheredBytes | undefined;
  /** A line for which there was no memory has ended. It began and ended with these. */
  onDropped?(head: string, tail: string): void;
};

/** So much of both ends of a line says what it was. */
const NEAR = 256;

/**
 * Cuts latin1 text into lines at LF; a CR before it and empty lines are dropped.
 * Only new text is searched, and the start of a line is gathered, so a long line costs time linear in its size.
 */
export function createLineSplitter(options: LineSplitterOptions): LineSplitter {
  const { maxLineBytes, onLine, gathered } = options;
  const rest = new GatheredText();
  /** Both ends of a line for which there is no memory: what stands between them is not kept. */
  let dropped: { readonly head: string; tail: string; bytes: number } | undefined;

  function gather(text: string): void {
    if (dropped) {
      dropped.bytes += text.length;
      dropped.tail = (dropped.tail + text).slice(-NEAR);
      return checkBound(dropped.bytes);
    }
    rest.add(text);
    checkBound(rest.length);
    if (gathered?.set(rest.length) !== false) return;
    const begun = rest.take();
    dropped = { head: copyText(begun.slice(0, NEAR)), tail: copyText(begun.slice(-NEAR)), bytes: begun.length };
    gathered.clear();
  }

  function endDropped(text: string): void {
    gather(text);
    if (dropped) options.onDropped?.(dropped.head, dropped.tail);
    dropped = undefined;
  }

  function checkBound(bytes: number): void {
    if (bytes > maxLineBytes) throw new Error(`wrote a line of more than ${maxLineBytes} bytes`);
  }

  return {
    push(text) {
      let at = 0;
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", at)) {
        if (dropped) {
          endDropped(text.slice(at, end));
          at = end + 1;
          continue;
        }
        const line = rest.add(text.slice(at, end)).take();
        gathered?.clear();
        checkBound(line.length);
        at = end + 1;
        const isCrLf = line.charCodeAt(line.length - 1) === 13;
        const plain = isCrLf ? line.slice(0, -1) : line;
        if (plain !== "") onLine(plain);
      }
      if (at < text.length) gather(text.slice(at));
    },
  };
}
