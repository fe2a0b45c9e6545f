/** Several gateways of one config, each a process on a port of its own, that can be killed and started again. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, type WriteStream, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { withOpenFiles } from "../kit/open-files.ts";
import { ownEnvironment } from "../kit/own-home.ts";
import { freePort } from "../kit/servers/test-server.ts";

export const PROGRAM = fileURLToPath(new URL("../../dist/isthmus.js", import.meta.url));

export type FleetOptions = {
  readonly count: number;
  readonly config: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Keeps what the processes said, in this folder. */
  readonly logs?: string | undefined;
  /** How many files each may open; unset: as many as here. */
  readonly openFiles?: number | undefined;
};

/** The gateways. `kill` and `start` name one by its place. */
export class Fleet {
  readonly ports: readonly number[];
  readonly #options: FleetOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), "isthmus-fleet-"));
  readonly #children: (ChildProcess | undefined)[];
  readonly #logs: (WriteStream | undefined)[] = [];

  private constructor(options: FleetOptions, ports: readonly number[]) {
    this.#options = options;
    this.ports = ports;
    this.#children = ports.map(() => undefined);
    process.once("exit", this.#onExit);
  }

  readonly #onExit = (): void => {
    for (const child of this.#children) child?.kill("SIGKILL");
  };

  static async start(options: FleetOptions): Promise<Fleet> {
    const ports: number[] = [];
    for (let index = 0; index < options.count; index++) ports.push(await freePort());
    const fleet = new Fleet(options, ports);
    await Promise.all(ports.map((_, index) => fleet.start(index)));
    return fleet;
  }

  pid(index: number): number | undefined {
    return this.#children[index]?.pid;
  }

  origin(index: number): string {
    return `http://127.0.0.1:${this.ports[index]}`;
  }

  /** Where its config is, and what it leaves to its next life. */
  folder(index: number): string {
    return join(this.#folder, String(index));
  }

  /** Resolves when it is ready. Each has a folder of its own: nothing is shared but the stores. */
  async start(index: number): Promise<void> {
    const folder = this.folder(index);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "isthmus.toml"), this.#options.config);
    const listen = `127.0.0.1:${this.ports[index]}`;
    const up = [process.execPath, PROGRAM, "up", "--config", "isthmus.toml", "--listen", listen] as const;
    const { program, args } = withOpenFiles(this.#options.openFiles, up);
    const env = ownEnvironment(this.#options.env);
    const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
    this.#children[index] = child;
    const { logs } = this.#options;
    if (logs !== undefined) this.#logs[index] ??= createWriteStream(join(logs, `gateway-${index}.log`), { flags: "a" });
    child.stderr?.on("data", (chunk: Buffer) => this.#logs[index]?.write(chunk));
    await this.ready(index);
  }

  async ready(index: number): Promise<void> {
    const until = performance.now() + 20_000;
    while (performance.now() < until) {
      const answer = await fetch(`${this.origin(index)}/readyz`).catch(() => undefined);
      await answer?.body?.cancel();
      if (answer?.status === 200) return;
      if (this.#children[index]?.exitCode !== null && this.#children[index]?.exitCode !== undefined) break;
      await wait(20);
    }
    throw new Error(`gateway ${index} did not become ready`);
  }

  /** Resolves when the process is gone. */
  async kill(index: number, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#children[index];
    this.#children[index] = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  /** The places of those that ended although nobody ended them. */
  get fallen(): readonly number[] {
    const hasEnded = (child: ChildProcess | undefined) =>
      child && (child.exitCode !== null || child.signalCode !== null);
    return this.#children.flatMap((child, index) => (hasEnded(child) ? [index] : []));
  }

  signal(index: number, signal: NodeJS.Signals): void {
    this.#children[index]?.kill(signal);
  }

  async stop(): Promise<void> {
    process.off("exit", this.#onExit);
    await Promise.all(this.#children.map((_, index) => this.kill(index)));
    for (const log of this.#logs) log?.end();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
