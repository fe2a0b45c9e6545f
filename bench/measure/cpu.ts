/** CPU time of a process tree, in milliseconds. */
import { readdirSync, readFileSync } from "node:fs";
import { listCandidateProcesses, readStat } from "./process-tree.ts";

const MS_PER_TICK = 10; // USER_HZ is 100 on every Linux that Node runs on.

/** utime + stime: true for the whole life of a process, but only to the tick. */
function readTicksMs(pid: number): number {
  const stat = readStat(pid);
  return stat === undefined ? 0 : (Number(stat[11]) + Number(stat[12])) * MS_PER_TICK;
}

/** The same time to the nanosecond, where the kernel tells it; threads that have ended are missing. */
function readThreadsMs(pid: number): number {
  let sum = 0;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const text = readFileSync(`/proc/${pid}/task/${thread}/sched`, "latin1");
      sum += Number(/se\.sum_exec_runtime\s*:\s*([\d.]+)/.exec(text)?.[1] ?? 0);
    }
  } catch {
    // Without the file, or with a thread that ended while we looked, the ticks stand.
  }
  return sum;
}

export function readCpuMs(root: number): number {
  return listCandidateProcesses(root).reduce((sum, pid) => sum + Math.max(readTicksMs(pid), readThreadsMs(pid)), 0);
}
