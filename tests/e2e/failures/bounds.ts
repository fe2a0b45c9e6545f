/** The most that a process and what it started have used, looked at twice a second. */
import { memoryMiBOf } from "../../kit/process-table.ts";
import { descendants } from "../kit/processes.ts";

export class Bounds {
  memoryMiB = 0;
  processes = 0;
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#look(), 500);
  }

  #look(): void {
    this.memoryMiB = Math.max(this.memoryMiB, memoryMiBOf(this.#pid));
    this.processes = Math.max(this.processes, descendants(this.#pid).length);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
