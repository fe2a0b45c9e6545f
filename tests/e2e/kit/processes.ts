/** What runs under a process, as the system sees it. */
import { execFileSync } from "node:child_process";

/** Every process below `pid`, at any depth. */
export function descendants(pid: number): number[] {
  const rows = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const pairs = rows.map((row) => row.trim().split(/\s+/).map(Number) as [number, number]);
  const below = (parent: number): number[] =>
    pairs.filter(([, ppid]) => ppid === parent).flatMap(([child]) => [child, ...below(child)]);
  return below(pid);
}

/** Those that run. A zombie holds nothing: where nobody collects orphans (a container without an init), it stays a while. */
function stillRunning(pids: readonly number[]): number[] {
  const rows = execFileSync("ps", ["-A", "-o", "pid=,stat="], { encoding: "utf8" }).trim().split("\n");
  const states = new Map(rows.map((row) => row.trim().split(/\s+/) as [string, string]));
  return pids.filter((pid) => !(states.get(String(pid)) ?? "Z").startsWith("Z"));
}

/** Resolves with those that still run after at most `timeoutMs`. */
export async function waitForEnd(pids: readonly number[], timeoutMs = 5_000): Promise<number[]> {
  const deadline = Date.now() + timeoutMs;
  while (stillRunning(pids).length > 0 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return stillRunning(pids);
}
