/** The processes of this machine: from /proc where there is one, which needs no program, else from `ps`. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

export type ProcessRow = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** A zombie holds nothing: where nobody collects orphans (a container without an init), it stays a while. */
  readonly isZombie: boolean;
};

export function listProcesses(): ProcessRow[] {
  return existsSync("/proc/self/stat") ? readProc() : readPs();
}

/** What it was started as; "" when it is gone. */
export function commandLineOf(pid: number): string {
  try {
    if (existsSync("/proc/self/stat")) return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    return execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return "";
  }
}

/** Its resident memory; 0 when it is gone. */
export function memoryMiBOf(pid: number): number {
  try {
    const kib = existsSync("/proc/self/stat")
      ? /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
      : execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
    return Number(kib ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function readProc(): ProcessRow[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(name) ?? []);
}

function readStat(pid: string): ProcessRow | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name, in brackets, may hold anything; what follows the last bracket is state, parent, group.
    const [state = "", parent = "", group = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { pid: Number(pid), parent: Number(parent), group: Number(group), isZombie: state === "Z" };
  } catch {
    return undefined; // It has ended since the folder was read.
  }
}

function readPs(): ProcessRow[] {
  const rows = execFileSync("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat="], { encoding: "utf8" }).trim().split("\n");
  return rows.map((row) => {
    const [pid, parent, group, state = ""] = row.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), group: Number(group), isZombie: state.startsWith("Z") };
  });
}
