/** Gateways that can be told to die at a fault point, over stores that outlive them. Each has a folder and a port of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { ownEnvironment } from "../../kit/own-home.ts";
import { startPostgres } from "../../kit/servers/postgres.ts";
import { startRedis } from "../../kit/servers/redis.ts";
import type { TestServer } from "../../kit/servers/test-server.ts";
import { type HttpUpstream, startHttpUpstream } from "../upstreams/http-upstream.ts";
import { Upstream } from "./upstream.ts";

const PROGRAM = fileURLToPath(new URL("../../../dist/isthmus.js", import.meta.url));
const CHILD = fileURLToPath(new URL("../upstreams/stdio-upstream.ts", import.meta.url));
const DEATH_MS = 15_000;

/**
 * alone: SQLite. many: Redis and PostgreSQL. new: as many, with nothing in the stores, and a shared child. recorded: as many,
 * with nothing in the stores, and every call on the audit trail.
 */
export type Place = "alone" | "many" | "new" | "recorded";

export type Gateway = {
  readonly url: string;
  readonly child: ChildProcess;
  /** False: it died while it started. */
  readonly isReady: boolean;
  /** Resolves when it has killed itself; rejects when it ended in another way, or not at all. */
  death(): Promise<void>;
  end(): Promise<void>;
};

type Parts = {
  readonly folder: string;
  readonly record: string;
  readonly modern: HttpUpstream;
  readonly up: Upstream;
  readonly tasks: Upstream;
  readonly redis: TestServer;
  readonly postgres: TestServer;
};

export class World {
  readonly up: Upstream;
  readonly tasks: Upstream;
  readonly #modern: HttpUpstream;
  readonly #record: string;
  readonly #redis: TestServer;
  readonly #postgres: TestServer;
  readonly #folder: string;
  readonly #running = new Set<ChildProcess>();
  #databases = 0;

  private constructor(parts: Parts) {
    this.#folder = parts.folder;
    this.#record = parts.record;
    this.#modern = parts.modern;
    this.up = parts.up;
    this.tasks = parts.tasks;
    this.#redis = parts.redis;
    this.#postgres = parts.postgres;
    process.once("exit", this.#onExit);
  }

  readonly #onExit = () => {
    for (const child of this.#running) child.kill("SIGKILL");
  };

  static async start(): Promise<World> {
    const [redis, postgres] = await Promise.all([startRedis({ settings: { databases: "64" } }), startPostgres()]);
    const folder = mkdtempSync(join(tmpdir(), "isthmus-kills-"));
    const record = join(folder, "executions.jsonl");
    writeFileSync(record, "");
    const modern = await startHttpUpstream(record, "2026");
    const up = await Upstream.start({ hasTasks: false });
    const tasks = await Upstream.start({ hasTasks: true });
    return new World({ folder, record, modern, up, tasks, redis, postgres });
  }

  /** How often the server of 2026 has executed this. */
  modernTimesOf(mark: string): number {
    return timesIn(this.#record, mark);
  }

  /** Stores of the place; gateways that are given the same ones share them. */
  async stores(place: Place): Promise<Stores> {
    const folder = mkdtempSync(join(this.#folder, "stores-"));
    const record = join(folder, "executions.jsonl");
    writeFileSync(record, "");
    if (place === "alone") return { text: `[database]\nurl = "sqlite:${join(folder, "isthmus.db")}"\n`, record };
    const [redis, postgres] = place === "many" ? [this.#redis.url, this.#postgres.url] : await this.#empty();
    const text = `[database]\nurl = "${postgres}"\n[shared]\nurl = "${redis}"\n[cluster]\nlease = "1s"\n`;
    const more = { many: "", new: childTable(record), recorded: "[audit]\n" }[place];
    return { text: text + more, record };
  }

  async #empty(): Promise<[string, string]> {
    const client = new pg.Client(this.#postgres.url);
    await client.connect();
    const name = `db_${randomUUID().replaceAll("-", "")}`;
    await client.query(`create database ${name}`);
    await client.end();
    this.#databases += 1;
    return [this.#redis.url.replace(/0$/, String(this.#databases)), this.#postgres.url.replace(/[^/]+$/, name)];
  }

  /** Resolves when it serves, or is dead. `fault`: where it dies. */
  async gateway({ text }: Stores, fault = ""): Promise<Gateway> {
    const folder = mkdtempSync(join(this.#folder, "gateway-"));
    const log = join(folder, "points.log");
    writeFileSync(join(folder, "isthmus.toml"), `[gateway]\nsse = true\ndrain = "1s"\n${text}${this.#servers()}`);
    const child = spawn(
      process.execPath,
      [PROGRAM, "up", "--json", "--config", "isthmus.toml", "--listen", "127.0.0.1:0"],
      {
        cwd: folder,
        env: ownEnvironment({ ISTHMUS_FAULT_POINT: fault, ISTHMUS_FAULT_LOG: fault === "" ? "" : log }),
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#running.add(child);
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4000);
    });
    const ended = once(child, "exit").then(() => undefined);
    const lines = createInterface({ input: child.stdout });
    const first = await Promise.race([once(lines, "line") as Promise<[string]>, ended]);
    if (!first && child.signalCode !== "SIGKILL") throw new Error(`the gateway did not start: ${said}`);
    const death = async () => {
      const timer = setTimeout(() => child.kill("SIGTERM"), DEATH_MS);
      await ended;
      clearTimeout(timer);
      const reached = existsSync(log) ? readFileSync(log, "utf8").split("\n") : [];
      const [point = ""] = fault.split("#");
      if (child.signalCode === "SIGKILL" && reached.includes(point)) return;
      throw new Error(`did not die at ${fault}; it reached ${JSON.stringify(countOf(reached))} and said ${said}`);
    };
    const end = async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await ended;
      this.#running.delete(child);
    };
    const url = first ? (JSON.parse(first[0]) as { url: string }).url : "";
    return { url, child, isReady: first !== undefined, death, end };
  }

  #servers(): string {
    const table = (id: string, { url }: Upstream) =>
      `[[servers]]\nid = "${id}"\nera = "2025"\nurl = "${url}"\nsessions = "per-client"\nbreaker = false\n`;
    const modern = `[[servers]]\nid = "modern"\nurl = "${this.#modern.url}"\ntask = "auto"\nbreaker = false\n`;
    return table("up", this.up) + table("tasks", this.tasks) + modern;
  }

  async stop(): Promise<void> {
    process.off("exit", this.#onExit);
    for (const child of this.#running) child.kill("SIGKILL");
    await Promise.all([this.up.close(), this.tasks.close(), this.#modern.close()]);
    await Promise.all([this.#redis.stop(), this.#postgres.stop()]);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** `record`: the file in which the executions of the shared child stand. */
export type Stores = { readonly text: string; readonly record: string };

/** How often a mark stands in a record of executions. */
export function timesIn(record: string, mark: string): number {
  return readFileSync(record, "utf8").split(JSON.stringify(mark)).length - 1;
}

function childTable(record: string): string {
  const args = JSON.stringify([CHILD, record]);
  return `[[servers]]\nid = "child"\nera = "2025"\ncommand = "${process.execPath}"\nargs = ${args}\nsessions = "shared"\n`;
}

function countOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
