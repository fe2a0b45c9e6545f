/** The built program as a child process. Everything started here ends with the test run. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { withOpenFiles } from "../../kit/open-files.ts";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PROGRAM = join(ROOT, "dist/isthmus.js");

export type ProgramOptions = {
  /** The text of isthmus.toml, written to a new folder in which the program starts. Unset: there is none. */
  readonly config?: string | Buffer;
  /** Further files of that folder, which is also the home of the program. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** How many files it may open; unset: as many as here. */
  readonly openFiles?: number | undefined;
};

const running = new Set<ChildProcessByStdio<Writable, Readable, Readable>>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export class Program {
  readonly folder: string;
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  stdout = "";
  stderr = "";
  /** The exit code, or null after a signal. */
  readonly exited: Promise<number | null>;

  constructor(args: readonly string[], options: ProgramOptions) {
    this.folder = mkdtempSync(join(tmpdir(), "isthmus-e2e-"));
    if (options.config !== undefined) writeFileSync(join(this.folder, "isthmus.toml"), options.config);
    for (const [name, text] of Object.entries(options.files ?? {})) {
      mkdirSync(dirname(join(this.folder, name)), { recursive: true });
      writeFileSync(join(this.folder, name), text);
    }
    // A home of its own: what the developer has configured must not be found.
    const env = { PATH: process.env.PATH ?? "", HOME: this.folder, ...options.env };
    const command = withOpenFiles(options.openFiles, [process.execPath, PROGRAM, ...args]);
    this.child = spawn(command.program, command.args, {
      cwd: this.folder,
      env,
      stdio: ["pipe", "pipe", "pipe"],
    });
    running.add(this.child);
    this.child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text;
    });
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    this.child.stdin.on("error", () => {});
    this.exited = new Promise((resolve) => {
      this.child.once("close", (code) => {
        running.delete(this.child);
        rmSync(this.folder, { recursive: true, force: true });
        resolve(code);
      });
    });
  }

  get pid(): number {
    return this.child.pid as number;
  }

  /** Resolves with the first match in what the program has written to standard output. */
  async output(pattern: RegExp, timeoutMs = 10_000): Promise<RegExpExecArray> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const match = pattern.exec(this.stdout);
      if (match) return match;
      const hasEnded = this.child.exitCode !== null || this.child.signalCode !== null;
      if (hasEnded || performance.now() > deadline)
        throw new Error(`${pattern} did not come.\n${this.stdout}\n${this.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Asks it to end and resolves with the exit code; after 5 s it no longer asks. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.child.kill(signal);
    const timer = setTimeout(() => this.child.kill("SIGKILL"), 5_000);
    const code = await this.exited;
    clearTimeout(timer);
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
  }
}

/** Runs the program to its end. */
export async function runProgram(args: readonly string[], options: ProgramOptions = {}) {
  const program = new Program(args, options);
  program.child.stdin.end();
  const timer = setTimeout(() => program.child.kill("SIGKILL"), 10_000);
  const code = await program.exited;
  clearTimeout(timer);
  return { code, stdout: program.stdout, stderr: program.stderr };
}
