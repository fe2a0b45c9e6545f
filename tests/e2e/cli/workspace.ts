/** A folder, also the home, in which the built program runs again and again. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { ROOT } from "../kit/program.ts";

const PROGRAM = join(ROOT, "dist/isthmus.js");
const TIMEOUT_MS = 60_000;
const NOBODY = 65_534;

export type Run = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

type Child = ChildProcessByStdio<null, Readable, Readable>;

export class Workspace {
  readonly folder = mkdtempSync(join(tmpdir(), "isthmus-cli-"));
  readonly #running = new Set<Child>();

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  write(name: string, text: string): string {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  /** Starts the program and does not wait for it. */
  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): { child: Child; ended: Promise<Run> } {
    const { child, ended } = this.#spawn(args, env);
    return { child, ended };
  }

  #spawn(args: readonly string[], env: Readonly<Record<string, string>>, user: { uid?: number; gid?: number } = {}) {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: this.folder,
      env: { PATH: process.env.PATH ?? "", HOME: this.folder, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      ...user,
    });
    this.#running.add(child);
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
    const ended = new Promise<Run>((resolve) => {
      child.once("close", (code) => {
        clearTimeout(timer);
        this.#running.delete(child);
        resolve({ code, stdout, stderr });
      });
    });
    return { child, ended, timer };
  }

  /** Starts a gateway, which ends with the workspace. Resolves when it has said that these servers are there. */
  async serve(verb: string, servers: readonly string[]): Promise<void> {
    const { child, timer } = this.#spawn([verb], {});
    clearTimeout(timer);
    let printed = "";
    const isReady = () => [...servers.map((id) => `${id}: ok`), "Stop with"].every((text) => printed.includes(text));
    await new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (text: string) => {
        printed += text;
        if (isReady()) resolve();
      });
      child.once("close", () => reject(new Error(`the gateway has ended: ${printed}`)));
    });
  }

  /** Runs the program to its end. */
  run(...args: string[]): Promise<Run> {
    return this.start(args).ended;
  }

  /** The same as somebody whom rights of files hold up, which they do not do to root. */
  runAsNobody(...args: string[]): Promise<Run> {
    return this.#spawn(args, {}, process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}).ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#running) child.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A server table for a script of Node. */
export function scriptServer(id: string, script: string, ...args: string[]): string {
  const words = [join(ROOT, script), ...args].map((arg) => JSON.stringify(arg)).join(", ");
  return `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${words}]\n`;
}

export const ODD = "tests/e2e/cli/odd-server.mjs";
export const HELLO = "examples/hello/server.mjs";
export const EVERYTHING = "tests/parts/node_modules/@modelcontextprotocol/server-everything/dist/index.js";

/** A port that nobody has at the moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}
