import type { Writable } from "node:stream";

export interface LineWriter {
  /** What was taken and is not in the pipe yet. */
  readonly waitingBytes: number;
  /** Takes a line without its end. False: the pipe is full; the line is kept, and `onDrain` says when to go on. */
  write(line: string): boolean;
  /** Writes what is waiting and closes the stream. Safe to call twice. */
  end(): void;
}

const FULL_BYTES = 64 * 1024;

/**
 * Joins the lines of one turn of the event loop into one write. Waits for the end of the turn rather than the next
 * microtask, because the calls that meet in a pipe come from different sockets, each with its own callback.
 */
export function createLineWriter(stream: Writable, onDrain: () => void): LineWriter {
  let waiting = "";
  let flushing: NodeJS.Immediate | undefined;
  let isFull = false; // what the stream says
  let hasToldFull = false; // what our caller was told
  let isEnded = false;

  function flush(): void {
    flushing = undefined;
    const text = waiting;
    waiting = "";
    if (text !== "" && stream.writable) isFull = !stream.write(text, "latin1");
    if (!isFull) tellDrain();
  }

  function tellDrain(): void {
    if (!hasToldFull || isEnded) return;
    hasToldFull = false;
    onDrain();
  }

  stream.on("drain", () => {
    isFull = false;
    tellDrain();
  });

  return {
    get waitingBytes() {
      return waiting.length + stream.writableLength;
    },
    write(line) {
      if (isEnded || !stream.writable) return false;
      waiting += `${line}\n`;
      flushing ??= setImmediate(flush);
      const canTakeMore = !isFull && waiting.length < FULL_BYTES;
      hasToldFull ||= !canTakeMore;
      return canTakeMore;
    },
    end() {
      if (isEnded) return;
      isEnded = true;
      clearImmediate(flushing);
      flush();
      stream.end();
    },
  };
}
