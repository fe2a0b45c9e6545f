/** What calls hold that go on as tasks of their provider: until one is known to be over, or its time is. */
import type { Timers } from "../../contract/index.ts";

export class TaskHolds {
  readonly #timers: Timers;
  readonly #letGo = new Map<string, () => void>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Resolves when it is let go. */
  hold(task: string, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#timers.after(ms, () => this.over(task));
      this.#letGo.set(task, () => {
        timer.cancel();
        resolve();
      });
    });
  }

  over(task: string): void {
    const letGo = this.#letGo.get(task);
    this.#letGo.delete(task);
    letGo?.();
  }

  close(): void {
    for (const task of [...this.#letGo.keys()]) this.over(task);
  }
}
