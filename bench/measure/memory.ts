/** Resident memory of a process tree, in bytes. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { listCandidateProcesses } from "./process-tree.ts";

function readStatusBytes(pid: number, field: "VmRSS" | "VmHWM"): number {
  try {
    const text = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

export function readRssBytes(root: number): number {
  return listCandidateProcesses(root).reduce((sum, pid) => sum + readStatusBytes(pid, "VmRSS"), 0);
}

/** The most each process ever held. */
export function readPeakBytes(root: number): number {
  return listCandidateProcesses(root).reduce((sum, pid) => sum + readStatusBytes(pid, "VmHWM"), 0);
}

/** The least seen over `forMs`: an idle process gives back what its collector finds, without being told to. */
export async function readSettledRssBytes(root: number, forMs: number): Promise<number> {
  let least = readRssBytes(root);
  for (let waited = 0; waited < forMs; waited += 250) {
    await sleep(250);
    least = Math.min(least, readRssBytes(root));
  }
  return least;
}
