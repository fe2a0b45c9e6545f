/** Programs of the matrix: started here, ended here at the latest when this process ends. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { ownEnvironment } from "../kit/own-home.ts";

type Child = ChildProcessByStdio<null, Readable, Readable>;

export type Running = { readonly url: string; stop(): Promise<void> };

const running = new Set<Child>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

function start(command: readonly string[], env: Readonly<Record<string, string>> = {}): Child {
  const [file = "", ...args] = command;
  const child = spawn(file, args, { env: ownEnvironment(env), stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  child.once("close", () => running.delete(child));
  return child;
}

/** Resolves with the first match in what a server writes; its output is read on, so that it never waits for us. */
export async function startServer(
  command: readonly string[],
  ready: RegExp,
  env = {},
): Promise<[string, Running["stop"]]> {
  const child = start(command, env);
  let text = "";
  const found = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${command.join(" ")} is not ready:\n${text}`)), 15_000);
    const read = (chunk: Buffer) => {
      text = (text + chunk).slice(-10_000);
      const match = ready.exec(text);
      if (!match) return;
      clearTimeout(timer);
      resolve(match[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("close", () => reject(new Error(`${command.join(" ")} ended:\n${text}`)));
  });
  const stop = async () => {
    const ended = new Promise((resolve) => child.once("close", resolve));
    if (child.kill("SIGKILL")) await ended;
  };
  return [found, stop];
}

/** Runs to the end, or for `timeoutMs`. A program that cannot be started fails with its own words. */
export async function run(command: readonly string[], timeoutMs: number) {
  const child = start(command);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      stderr += String(error);
      resolve(null);
    });
    child.once("close", resolve);
  });
  clearTimeout(timer);
  return { code, stdout, stderr };
}
