/**
 * Starts and ends every process of a run. Nothing is ended that was not started here, and everything that was started
 * here is ended: by `stop`, at the end of the run, on a failure, on SIGINT and SIGTERM.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { listDescendants, readStartTime } from "./measure/process-tree.ts";

export const CANDIDATE_CORE = 0;
export const LOAD_CORE = availableParallelism() - 1;

export type OwnedProcess = { child: ChildProcess; pid: number; output(): string; stop(): Promise<void> };
export type ProcessOptions = {
  command: string;
  args: readonly string[];
  core: "candidate" | "load";
  env?: NodeJS.ProcessEnv;
  hasIpc?: boolean;
};

const running = new Set<OwnedProcess>();
const MAX_OUTPUT = 4_000;

/** `taskset` replaces itself with the command, so the pid is the command's own. */
export function pinned(core: "candidate" | "load", command: string, args: readonly string[]): [string, string[]] {
  return ["taskset", ["-c", String(core === "candidate" ? CANDIDATE_CORE : LOAD_CORE), command, ...args]];
}

/** The runner itself belongs on the load's core. */
export function pinSelf(): void {
  execFileSync("taskset", ["-cp", String(LOAD_CORE), String(process.pid)], { stdio: "ignore" });
}

export function startProcess(options: ProcessOptions): OwnedProcess {
  const [command, args] = pinned(options.core, options.command, options.args);
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe", ...(options.hasIpc === true ? (["ipc"] as const) : [])],
    env: { ...process.env, ...options.env },
  });
  let output = "";
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-MAX_OUTPUT);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  child.stdin?.on("error", () => {});
  child.on("error", (error) => keep(Buffer.from(error.message)));
  const owned: OwnedProcess = {
    child,
    pid: child.pid ?? -1,
    output: () => output,
    stop: () => stopProcess(owned),
  };
  running.add(owned);
  return owned;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Already gone.
  }
}

const hasEnded = (owned: OwnedProcess): boolean =>
  owned.pid === -1 || owned.child.exitCode !== null || owned.child.signalCode !== null;

/** SIGTERM, two seconds of patience, then SIGKILL, also for the children it left behind. Safe to call twice. */
async function stopProcess(owned: OwnedProcess): Promise<void> {
  if (!running.has(owned)) return;
  const family = listDescendants(owned.pid).map((pid) => ({ pid, startTime: readStartTime(pid) }));
  if (!hasEnded(owned)) {
    owned.child.stdin?.end();
    signal(owned.pid, "SIGTERM");
  }
  for (let waited = 0; waited < 2_000 && !hasEnded(owned); waited += 20) await sleep(20);
  if (!hasEnded(owned)) signal(owned.pid, "SIGKILL");
  // A pid may have been given to someone else meanwhile; its start time tells.
  for (const { pid, startTime } of family) {
    if (startTime !== undefined && readStartTime(pid) === startTime) signal(pid, "SIGKILL");
  }
  running.delete(owned);
}

export async function stopAll(): Promise<void> {
  await Promise.all([...running].map((owned) => owned.stop()));
}

/** Called once by the runner. */
export function endProcessesWithRunner(): void {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(name, () => {
      process.stderr.write(`\n${name}: ending what this run started\n`);
      void stopAll().finally(() => process.exit(130));
    });
  }
  process.on("exit", () => {
    for (const owned of running) {
      for (const pid of listDescendants(owned.pid)) signal(pid, "SIGKILL");
      if (!hasEnded(owned)) signal(owned.pid, "SIGKILL");
    }
  });
}
