import type { Writable } from "node:stream";

export interface LineWriter {
  /** What was taken and is not in the pipe yet. */
  readonly waitingBytes: number;
  /** The tags of lines of which certainly nothing is in the pipe: they wait, or it was closed before. */
  readonly unsent: readonly string[];
  /**
   * Takes a line without its end. False: the pipe is full; the line is kept, and `onDrain` says when to go on. `tag`: under
   * which the line is found in `unsent`.
   */
  write(line: string, tag?: string): boolean;
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
  let waitingTags: string[] = [];
  let heldTags: string[] = []; // the stream took these lines while it was busy with others
  const lostTags: string[] = [];
  let flushing: NodeJS.Immediate | undefined;
  let isFull = false; // what the stream says
  let hasToldFull = false; // what our caller was told
  let isEnded = false;

  function flush(): void {
    flushing = undefined;
    if (waiting !== "" && stream.writable) pass(waiting, waitingTags);
    else lostTags.push(...waitingTags);
    waiting = "";
    waitingTags = [];
    if (!isFull) tellDrain();
  }

  function pass(text: string, tags: readonly string[]): void {
    const isBusy = stream.writableLength > 0;
    isFull = !stream.write(text, "latin1", onWritten);
    // Refused at once: not a byte was taken.
    if (stream.errored) lostTags.push(...tags);
    else if (isBusy) heldTags.push(...tags);
  }

  /** What was held has been begun with the moment in which this was through. */
  function onWritten(error: Error | null | undefined): void {
    if (!error && !stream.errored && heldTags.length > 0) heldTags = [];
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
    get unsent() {
      return [...lostTags, ...heldTags, ...waitingTags];
    },
    write(line, tag) {
      if (isEnded || !stream.writable) {
        if (tag !== undefined) lostTags.push(tag);
        return false;
      }
      waiting += `${line}\n`;
      if (tag !== undefined) waitingTags.push(tag);
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
