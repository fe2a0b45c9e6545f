/** A real server in a temporary folder, on a free port of loopback. It ends with the process that started it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** Of the process that runs now; undefined after `kill` and `stop`. */
  readonly pid: number | undefined;
  readonly folder: string;
  /** SIGKILL. Resolves when it is gone; its data stays. */
  kill(): Promise<void>;
  /** Starts it again where it was, with the data it has; ends it first (in order) where it runs. */
  restart(): Promise<void>;
  /** SIGSTOP: it keeps its connections and answers nothing. */
  pause(): void;
  resume(): void;
  /** Ends it and removes its folder. Safe to call twice. */
  stop(): Promise<void>;
}

export type ServerRecipe = {
  readonly name: string;
  /** Once, before the first start. */
  prepare?(folder: string, port: number): void;
  command(folder: string, port: number): readonly [string, ...string[]];
  url(port: number): string;
  /** How it is asked to end in order. */
  readonly endSignal: NodeJS.Signals;
  /** True when it serves. */
  isReady(folder: string, port: number): Promise<boolean>;
};

const READY_MS = 20_000;

export async function startServer(recipe: ServerRecipe): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), `isthmus-${recipe.name}-`));
  chmodSync(folder, 0o755);
  const port = await freePort();
  recipe.prepare?.(folder, port);
  let child: ChildProcess | undefined;
  let isStopped = false;

  const start = async () => {
    child = await launch(recipe, folder, port);
  };
  const signalAll = (signal: NodeJS.Signals) => {
    if (child?.pid !== undefined) for (const pid of [child.pid, ...childrenOf(child.pid)]) send(pid, signal);
  };
  const end = async (signal: NodeJS.Signals) => {
    const ending = child;
    if (ending?.pid === undefined) return;
    const helpers = childrenOf(ending.pid);
    child = undefined;
    const gone = isOver(ending) ? Promise.resolve() : once(ending, "exit");
    send(ending.pid, "SIGCONT");
    send(ending.pid, signal);
    if (signal === "SIGKILL") for (const pid of helpers) send(pid, signal);
    await gone;
  };
  const onExit = () => signalAll("SIGKILL");
  process.once("exit", onExit);

  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    process.off("exit", onExit);
    await end("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  await start().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    url: recipe.url(port),
    port,
    get pid() {
      return child?.pid;
    },
    folder,
    kill: () => end("SIGKILL"),
    async restart() {
      signalAll("SIGCONT");
      await end(recipe.endSignal);
      await start();
    },
    pause: () => signalAll("SIGSTOP"),
    resume: () => signalAll("SIGCONT"),
    stop,
  };
}

async function launch(recipe: ServerRecipe, folder: string, port: number): Promise<ChildProcess> {
  const [program, ...args] = recipe.command(folder, port);
  // Just after a kill the kernel may still hold what the former process had: it is started until it stays.
  const until = performance.now() + READY_MS;
  let said = "";
  while (performance.now() < until) {
    said = "";
    const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    const hear = (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4000);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", (error) => hear(Buffer.from(error.message)));
    while (!isOver(child) && child.pid !== undefined && performance.now() < until) {
      if (await recipe.isReady(folder, port).catch(() => false)) return child;
      await wait(10);
    }
    child.kill("SIGKILL");
    await wait(50);
  }
  throw new Error(`${recipe.name} did not start on port ${port}; its last words:\n${said}`);
}

function isOver(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone.
  }
}

/** PostgreSQL serves each connection from a process of its own, which outlives a stop of its parent. Linux only. */
function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no free port on loopback");
  return address.port;
}

/** What a server says first to these bytes; "" where it says nothing or is not there. */
export function greet(port: number, bytes: Uint8Array | string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (text: string) => {
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(500, () => end(""));
    socket.on("error", () => end(""));
    socket.on("close", () => end(""));
    socket.on("connect", () => socket.write(bytes));
    socket.once("data", (chunk) => end(chunk.toString("latin1")));
  });
}
