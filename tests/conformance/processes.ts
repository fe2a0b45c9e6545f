/** Child processes of a run: started here, all ended when this process ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { ownEnvironment } from "../kit/own-home.ts";

const running = new Set<ChildProcess>();

process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Starts `node file args`; its output goes to `logFile`. The IPC channel lets a fixture notice that we are gone. */
export function startNode(file: string, args: readonly string[], logFile: string): ChildProcess {
  const child = spawn(process.execPath, [file, ...args], {
    cwd: root,
    env: ownEnvironment(),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const log = createWriteStream(logFile, { flags: "a" });
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  running.add(child);
  child.once("close", () => {
    running.delete(child);
    log.end();
  });
  return child;
}

/** Resolves with the exit code; null after a signal. */
export function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("close", resolve));
}

/** Asks first, and after 5 s no longer asks. */
export async function stop(child: ChildProcess): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await exitOf(child);
  clearTimeout(timer);
}

/** A loopback port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
