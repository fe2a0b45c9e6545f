export interface LineSplitter {
  /** Takes the next piece of the stream. Throws when a line is longer than the bound, or when `onLine` throws. */
  push(text: string): void;
}

/**
 * Cuts latin1 text into lines at LF; a CR before it and empty lines are dropped.
 * Only new text is searched, and the start of a line is only appended to, so a long line costs time linear in its size.
 */
export function createLineSplitter(options: { maxLineBytes: number; onLine(line: string): void }): LineSplitter {
  const { maxLineBytes, onLine } = options;
  let rest = "";

  function checkBound(bytes: number): void {
    if (bytes > maxLineBytes) throw new Error(`wrote a line of more than ${maxLineBytes} bytes`);
  }

  return {
    push(text) {
      let at = 0;
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", at)) {
        const line = rest + text.slice(at, end);
        checkBound(line.length);
        rest = "";
        at = end + 1;
        const isCrLf = line.charCodeAt(line.length - 1) === 13;
        const plain = isCrLf ? line.slice(0, -1) : line;
        if (plain !== "") onLine(plain);
      }
      if (at < text.length) rest += text.slice(at);
      checkBound(rest.length);
    },
  };
}
