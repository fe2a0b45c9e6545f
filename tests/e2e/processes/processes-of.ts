/** Processes found by a mark in their command line: not by name, not by parent. Linux only. */
import { readdirSync, readFileSync } from "node:fs";

/** Every process that was started with this mark as an argument of its own. Zombies have none any more, and hold nothing. */
export function processesOf(mark: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && argumentsOf(name).includes(mark))
    .map(Number);
}

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0");
  } catch {
    return []; // ended meanwhile
  }
}

/** Counts them all the time, until it is told to stop. */
export class ProcessCount implements Disposable {
  most = 0;
  looks = 0;
  readonly #mark: string;
  readonly #timer: NodeJS.Timeout;

  constructor(mark: string) {
    this.#mark = mark;
    this.#timer = setInterval(() => this.#look(), 10);
  }

  #look(): void {
    this.looks++;
    this.most = Math.max(this.most, processesOf(this.#mark).length);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
