/** Reads a pipe of a child in turns with everybody else: libuv reads up to 32 of 64 KiB in a row, and one that floods it has them ready. */
import type { Readable } from "node:stream";
import { type Pace, PacedText } from "../../../contract/index.ts";

export interface PipeReading {
  /** Nothing more is read until `resume`, so that the child blocks once the pipe is full. */
  pause(): void;
  resume(): void;
  /** What came has not all been taken, or the child's turn is used up. */
  readonly isResting: boolean;
  /** When everything that came has been taken: at once, or later. */
  whenTaken(then: () => void): void;
}

export type PipeTaker = {
  /** What it throws ends the reading. */
  readonly take: (text: string) => void;
  readonly onBroken: (error: unknown) => void;
};

/** The pipe has an encoding, one character per byte or as it decodes. */
export function readInTurns(pipe: Readable, { take, onBroken }: PipeTaker, pace: Pace): PipeReading {
  let isPaused = false;
  const waiting: (() => void)[] = [];
  const tell = () => {
    for (const then of waiting.splice(0)) then();
  };
  const text = new PacedText(pace, {
    onPart: take,
    onFull: () => void pipe.pause(),
    onFree: () => {
      if (!isPaused) pipe.resume();
      tell();
    },
    onBroken(error) {
      onBroken(error);
      tell();
    },
  });
  pipe.on("data", (piece: string) => {
    try {
      text.push(piece);
    } catch (error) {
      text.stop();
      onBroken(error);
    }
  });
  return {
    pause() {
      isPaused = true;
      pipe.pause();
    },
    resume() {
      isPaused = false;
      if (!text.isResting) pipe.resume();
    },
    get isResting() {
      return text.isResting;
    },
    whenTaken(then) {
      if (text.isResting) waiting.push(then);
      else then();
    },
  };
}
