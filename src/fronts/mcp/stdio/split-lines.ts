/** Cuts a byte stream into lines, each at most `maxBytes` long. A longer one is told once and skipped to its end. */
const LF = 10;

export type LineSink = { readonly onLine: (line: Buffer) => void; readonly onTooLong: () => void };

export function splitLines(maxBytes: number, sink: LineSink): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let isSkipping = false;

  function keep(piece: Buffer): void {
    if (isSkipping) return;
    bytes += piece.length;
    if (bytes > maxBytes) {
      isSkipping = true;
      pieces = [];
      sink.onTooLong();
    } else if (piece.length > 0) pieces.push(piece);
  }

  function flush(): void {
    const line = isSkipping ? undefined : pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    pieces = [];
    bytes = 0;
    isSkipping = false;
    if (line && line.length > 0) sink.onLine(line);
  }

  return function push(chunk) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      keep(chunk.subarray(start, end));
      flush();
      start = end + 1;
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  };
}
