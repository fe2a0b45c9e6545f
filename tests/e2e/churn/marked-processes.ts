/** Processes found by a variable in their environment, which every child hands on: not by name, not by parent. */
import { readdirSync, readFileSync } from "node:fs";

const MARK = "ISTHMUS_CHURN_MARK";

/** A line for a server's `env` table. */
export const markLine = (mark: string): string => `${MARK} = "${mark}"`;

/** Every process that runs with this mark. Zombies have no environment any more, and hold nothing. */
export function markedProcesses(mark: string): number[] {
  const wanted = `${MARK}=${mark}`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && readEnvironment(name).includes(wanted))
    .map(Number);
}

function readEnvironment(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch {
    return []; // ended meanwhile, or not ours
  }
}
