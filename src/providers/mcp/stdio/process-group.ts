import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const FIRST_POLL_MS = 10;
const LAST_POLL_MS = 200;

/** Signals every process of the group. False when there is none left that we may signal. Signal 0 only asks. */
export function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pgid, signal);
    return true;
  } catch {
    return false; // ESRCH: gone. EPERM: not ours (any more), so nothing we could do about it
  }
}

/**
 * True while a process of the group runs. Where nobody collects orphans (a container without an init), their zombies
 * answer signals for ever; they hold nothing and do not count. Without /proc they do count.
 */
export async function isGroupRunning(pgid: number): Promise<boolean> {
  if (!signalGroup(pgid, 0)) return false;
  const names = await readdir("/proc").catch(() => undefined);
  if (names === undefined) return true;
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, "latin1").catch(() => "");
    // "pid (command) state parent group …"; the command may hold anything, so count from its end.
    const [state = "", , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (group === String(pgid) && !"ZX".includes(state)) return true;
  }
  return false;
}

/**
 * Resolves with true as soon as nothing of the group runs, with false after `timeoutMs`.
 * While `isLeaderRunning` says so, that is known without a look at every process.
 */
export async function waitForGroupEnd(
  pgid: number,
  timeoutMs: number,
  isLeaderRunning: () => boolean,
): Promise<boolean> {
  const until = performance.now() + timeoutMs;
  let pollMs = FIRST_POLL_MS;
  while (isLeaderRunning() || (await isGroupRunning(pgid))) {
    const leftMs = until - performance.now();
    if (leftMs <= 0) return false;
    await sleep(Math.min(pollMs, leftMs));
    pollMs = Math.min(pollMs * 2, LAST_POLL_MS);
  }
  return true;
}
