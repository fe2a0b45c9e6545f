import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { signalGroup, waitForGroupEnd } from "./process-group.ts";
import type { Watchdog } from "./watchdog.ts";

export type EndOptions = {
  child: ChildProcess;
  /** Also the id of its group. */
  pid: number;
  graceMs: number;
  closeInput(): void;
  watchdog: Watchdog;
};

/**
 * The ladder: close standard input, SIGTERM to the group, SIGKILL to the group, each with its grace.
 * A child that has ended by itself enters at SIGTERM, for the sake of what it left in its group.
 * Resolves when nothing of the group runs, or when even SIGKILL did not end it in time (a process stuck in the kernel).
 */
export async function endChild(options: EndOptions): Promise<void> {
  const { child, pid, graceMs } = options;
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  options.closeInput();
  if (isRunning()) await waitForExit(child, graceMs);
  if (signalGroup(pid, "SIGTERM") && !(await waitForGroupEnd(pid, graceMs, isRunning))) {
    signalGroup(pid, "SIGKILL");
    await waitForGroupEnd(pid, graceMs, isRunning);
  }
  options.watchdog.unwatch(pid);
}

async function waitForExit(child: ChildProcess, timeoutMs: number): Promise<void> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  await once(child, "exit", { signal: timeout.signal }).catch(() => {});
  clearTimeout(timer);
}
