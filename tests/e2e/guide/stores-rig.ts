/** Redis and PostgreSQL for the commands of a page, where their packages put them: ports 6379 and 5432 of its network. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { postgresRecipe } from "../../kit/servers/postgres.ts";
import { redisRecipe } from "../../kit/servers/redis.ts";
import type { ServerRecipe } from "../../kit/servers/test-server.ts";
import { blockOf } from "../kit/markdown.ts";
import type { Command, PageRunner } from "./page-runner.ts";

const UNTIL_READY = fileURLToPath(new URL("./until-ready.ts", import.meta.url));

export class StoresRig implements AsyncDisposable {
  readonly #page: PageRunner;
  readonly #running: { readonly command: Command; readonly endSignal: NodeJS.Signals }[] = [];
  readonly #folders: string[] = [];

  private constructor(page: PageRunner) {
    this.#page = page;
  }

  /** Redis has the settings that `demands`, a page of the guide, asks for. */
  static async start(page: PageRunner, demands: string): Promise<StoresRig> {
    const rig = new StoresRig(page);
    try {
      await rig.#start(redisRecipe({ settings: settingsOf(blockOf(demands, "conf")) }), 6379);
      await rig.#start(postgresRecipe(), 5432);
      const sql = ["CREATE ROLE isthmus LOGIN", "CREATE DATABASE isthmus OWNER isthmus"];
      await rig.#run([
        "psql",
        "-q",
        "-h",
        "127.0.0.1",
        "-U",
        "test",
        "postgres",
        ...sql.flatMap((line) => ["-c", line]),
      ]);
      return rig;
    } catch (error) {
      await rig[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #start(recipe: ServerRecipe, port: number): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), `isthmus-guide-${recipe.name}-`));
    chmodSync(folder, 0o755);
    this.#folders.push(folder);
    recipe.prepare?.(folder, port);
    const { endSignal } = recipe;
    this.#running.push({ command: this.#page.start(recipe.command(folder, port)), endSignal });
    await this.#run(["node", UNTIL_READY, recipe.name, String(port)]);
  }

  async #run(command: readonly string[]): Promise<void> {
    const started = this.#page.start(command);
    const code = await started.ended;
    if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${started.printed()}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // PostgreSQL waits for its clients to leave unless it is told otherwise, and the gateways end last.
    for (const { command, endSignal } of this.#running) await command.stop(endSignal);
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The lines of a redis.conf. */
function settingsOf(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]));
}
