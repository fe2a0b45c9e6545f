/**
 * Reads a pipe of a child a piece per turn. libuv reads up to 32 of 64 KiB in a row, and a child that writes without a pause
 * has that much ready each time: whatever is done with them would keep all other servers waiting.
 */
import type { Readable } from "node:stream";

export interface PipeReading {
  /** Nothing more is read until `resume`, so that the child blocks once the pipe is full. */
  pause(): void;
  resume(): void;
}

/** As much as one read brings. Whoever says little never gets there at once, and loses nothing when it does. */
const TURN_LENGTH = 64 * 1024;

/** `later`: after what came in from elsewhere in the meantime. */
export function readInTurns<Piece extends { readonly length: number }>(
  pipe: Readable,
  take: (piece: Piece) => void,
  later: (turn: () => void) => void = setImmediate,
): PipeReading {
  let length = 0;
  let isResting = false;
  let isPaused = false;

  function goOn(): void {
    isResting = false;
    if (!isPaused) pipe.resume();
  }

  pipe.on("data", (piece: Piece) => {
    length += piece.length;
    if (length >= TURN_LENGTH) {
      length = 0;
      isResting = true;
      pipe.pause();
      later(goOn);
    }
    take(piece);
  });

  return {
    pause() {
      isPaused = true;
      pipe.pause();
    },
    resume() {
      isPaused = false;
      if (!isResting) pipe.resume();
    },
  };
}
