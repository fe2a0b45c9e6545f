/** Reads the process table. Linux only, as is the whole bench. */
import { readdirSync, readFileSync } from "node:fs";

/** The fields after the command name, which may itself hold spaces and brackets. */
export function readStat(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

export function readStartTime(pid: number): string | undefined {
  return readStat(pid)?.[19];
}

/** Children, their children and so on, without `root` itself. */
export function listDescendants(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(readStat(Number(name))?.[1] ?? -1);
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [Number(name)]);
    else siblings.push(Number(name));
  }
  const found: number[] = [];
  const queue = [root];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    const own = children.get(pid) ?? [];
    found.push(...own);
    queue.push(...own);
  }
  return found;
}

/** The measuring upstream over stdio is a child of the gateway, but no part of it. */
export function isStdioUpstream(commandLine: string): boolean {
  const [program = "", file = ""] = commandLine.split("\0");
  return /(^|\/)node$/.test(program) && file.endsWith("/stdio-upstream.ts");
}

function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** The candidate's processes: everything below `root` except the measuring stdio upstream. */
export function listCandidateProcesses(root: number): number[] {
  return [root, ...listDescendants(root).filter((pid) => !isStdioUpstream(readCommandLine(pid)))];
}
