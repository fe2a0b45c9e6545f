/** What runs under a process, as the system sees it. */
import { listProcesses } from "../../kit/process-table.ts";

/** Every process below `pid`, at any depth. */
export function descendants(pid: number): number[] {
  const rows = listProcesses();
  const below = (parent: number): number[] =>
    rows.filter((row) => row.parent === parent).flatMap((row) => [row.pid, ...below(row.pid)]);
  return below(pid);
}

function stillRunning(pids: readonly number[]): number[] {
  const running = new Set(
    listProcesses()
      .filter(({ isZombie }) => !isZombie)
      .map(({ pid }) => pid),
  );
  return pids.filter((pid) => running.has(pid));
}

/** Resolves with those that still run after at most `timeoutMs`. */
export async function waitForEnd(pids: readonly number[], timeoutMs = 5_000): Promise<number[]> {
  const deadline = performance.now() + timeoutMs;
  while (stillRunning(pids).length > 0 && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return stillRunning(pids);
}
