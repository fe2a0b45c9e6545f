/** The runner's handle on the load generator: one job at a time, each with a time limit. */
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type OwnedProcess, startProcess } from "../processes.ts";
import type { LoadResult } from "./closed-loop.ts";
import type { Endpoint } from "./mcp-session.ts";

type Loop = { key: string; forMs: number; maxCalls: number };

/** `spread` calls every listed tool in turn, `call` only the echo tool. */
export type LoadKind = "call" | "spread" | "list";
export type LoadJob =
  | { do: "open"; key: string; endpoint: Endpoint; sessions: number }
  | ({ do: "warm"; load: LoadKind } & Loop)
  | ({ do: "run" } & Loop)
  | { do: "close"; key: string }
  | { do: "grow"; url: string; count: number; hasStream: boolean }
  | { do: "shrink" };
export type LoadReply = { value: object } | { error: string };

const JOB_LIMIT_MS = 90_000;

export class LoadProcess {
  readonly #owned: OwnedProcess;
  readonly #child: ChildProcess;

  private constructor(owned: OwnedProcess) {
    this.#owned = owned;
    this.#child = owned.child;
  }

  static start(): LoadProcess {
    const file = fileURLToPath(new URL("../load.ts", import.meta.url));
    return new LoadProcess(startProcess({ command: process.execPath, args: [file], core: "load", hasIpc: true }));
  }

  async open(key: string, endpoint: Endpoint, sessions: number): Promise<number> {
    const { toolCount } = (await this.#ask({ do: "open", key, endpoint, sessions })) as { toolCount: number };
    return toolCount;
  }

  async warm(key: string, load: LoadKind, forMs: number, maxCalls: number): Promise<void> {
    await this.#ask({ do: "warm", key, load, forMs, maxCalls });
  }

  async run(key: string, forMs: number): Promise<LoadResult> {
    return (await this.#ask({ do: "run", key, forMs, maxCalls: 500_000 })) as LoadResult;
  }

  async close(key: string): Promise<void> {
    await this.#ask({ do: "close", key });
  }

  async grow(url: string, count: number, hasStream: boolean): Promise<void> {
    await this.#ask({ do: "grow", url, count, hasStream });
  }

  async shrink(): Promise<void> {
    await this.#ask({ do: "shrink" });
  }

  stop(): Promise<void> {
    return this.#owned.stop();
  }

  #ask(job: LoadJob): Promise<object> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        this.#child.off("message", onMessage);
        this.#child.off("exit", onExit);
        act();
      };
      const onMessage = (reply: LoadReply): void =>
        settle(() => ("error" in reply ? reject(new Error(reply.error)) : resolve(reply.value)));
      const onExit = (): void => settle(() => reject(new Error("the load generator ended")));
      const timer = setTimeout(() => settle(() => reject(new Error(`no end of "${job.do}" in time`))), JOB_LIMIT_MS);
      this.#child.on("message", onMessage);
      this.#child.on("exit", onExit);
      this.#child.send(job);
    });
  }
}
