/** What every candidate is to the runner, and how most of them start. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Endpoint } from "../load/mcp-session.ts";
import { type OwnedProcess, startProcess } from "../processes.ts";
import type { Upstream, UpstreamKind } from "../upstream/start-upstream.ts";

/** `pid` is the root of the candidate's process tree; absent where there is no process in between. */
export type Running = Endpoint & { pid?: number; stop(): Promise<void> };

export type Candidate = {
  name: string;
  /** Peers count for the bars; what is `shown` is only printed. */
  kind: "direct" | "proxy" | "isthmus" | "peer" | "shown";
  upstreams: readonly UpstreamKind[];
  /** Says what is missing on this machine, if anything is. */
  missing?(): string | undefined;
  /** Resolves as soon as the process is spawned; `waitUntilReady` says when it serves. */
  start(upstream: Upstream): Promise<Running>;
};

export const packageFile = (path: string): string => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url));
export const peerFile = (name: string): string => fileURLToPath(new URL(`../peers/${name}`, import.meta.url));

export async function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

const directories = new Set<string>();
process.once("exit", () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** Removed at the latest when the runner ends. */
export function makeTempDir(): string {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-bench-"));
  directories.add(directory);
  return directory;
}

type StartOptions = {
  command: string;
  args: readonly string[];
  port: number;
  path?: string;
  protocol?: Endpoint["protocol"];
  env?: NodeJS.ProcessEnv;
  /** Removed when the candidate stops. */
  directory?: string;
};

export function startCandidate(options: StartOptions): Running {
  const owned: OwnedProcess = startProcess({
    command: options.command,
    args: options.args,
    core: "candidate",
    env: { NODE_ENV: "production", ...options.env },
  });
  return {
    url: `http://127.0.0.1:${options.port}${options.path ?? "/mcp"}`,
    protocol: options.protocol ?? "streamable",
    pid: owned.pid,
    async stop() {
      await owned.stop();
      if (options.directory !== undefined) rmSync(options.directory, { recursive: true, force: true });
    },
  };
}

/** Retries until `attempt` succeeds, every `everyMs`, for at most `limitMs`; then throws its last error. */
export async function retryUntil<T>(attempt: () => Promise<T>, limitMs: number, everyMs: number): Promise<T> {
  const deadline = performance.now() + limitMs;
  while (true) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await sleep(everyMs);
  }
}
