/**
 * Redis and PostgreSQL for the commands of a page, where their packages put them: ports 6379 and 5432 of its network. Redis has
 * the settings that the guide asks for; PostgreSQL knows nobody but `postgres`, whom the system vouches for, as on Debian.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { postgresRecipe } from "../../kit/servers/postgres.ts";
import { redisRecipe } from "../../kit/servers/redis.ts";
import type { ServerRecipe } from "../../kit/servers/test-server.ts";
import { blockOf, isCommand, readBlocks } from "../kit/markdown.ts";
import type { Command, PageRunner } from "./page-runner.ts";

const PAGE = "docs/guide/several-processes.md";
/** Those of Debian, but for the superuser of the kit, who looks whether it is up. */
const WHO_MAY = `local all postgres trust
host all test 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
`;
const UNTIL_READY = fileURLToPath(new URL("./until-ready.ts", import.meta.url));

export class StoresRig implements AsyncDisposable {
  readonly #page: PageRunner;
  readonly #running: { readonly command: Command; readonly endSignal: NodeJS.Signals }[] = [];
  readonly #folders: string[] = [];

  private constructor(page: PageRunner) {
    this.#page = page;
  }

  static async start(page: PageRunner): Promise<StoresRig> {
    const rig = new StoresRig(page);
    try {
      await rig.#start(redisRecipe({ settings: settingsOf(blockOf(PAGE, "conf")) }), 6379);
      const postgres = postgresRecipe();
      const prepare = (folder: string, port: number) => {
        postgres.prepare?.(folder, port);
        writeFileSync(join(folder, "data/pg_hba.conf"), WHO_MAY);
      };
      const folder = await rig.#start({ ...postgres, prepare }, 5432);
      const superuser = ["psql", "-q", "-h", "127.0.0.1", "-U", "test", "postgres"];
      await runIn(page, [...superuser, "-c", "CREATE ROLE postgres SUPERUSER LOGIN"]);
      page.addProgram(
        "sudo",
        `[ "$1 $2" = "-u postgres" ] || exit 1\nshift 2\nPGHOST='${folder}' PGUSER=postgres exec "$@"`,
      );
      return rig;
    } catch (error) {
      await rig[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Makes the role and the database as the page says it. */
  static async makeDatabase(page: PageRunner): Promise<void> {
    const making = readBlocks(PAGE).find((block) => isCommand(block) && block.text.includes("CREATE DATABASE"));
    if (!making) throw new Error(`${PAGE} does not say how the database is made`);
    await runIn(page, ["sh", "-c", making.text]);
  }

  /** Resolves with the folder that the server has. */
  async #start(recipe: ServerRecipe, port: number): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), `isthmus-guide-${recipe.name}-`));
    chmodSync(folder, 0o755);
    this.#folders.push(folder);
    recipe.prepare?.(folder, port);
    const { endSignal } = recipe;
    this.#running.push({ command: this.#page.start(recipe.command(folder, port)), endSignal });
    await runIn(this.#page, ["node", UNTIL_READY, recipe.name, String(port)]);
    return folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // PostgreSQL waits for its clients to leave unless it is told otherwise, and the gateways end last.
    for (const { command, endSignal } of this.#running) await command.stop(endSignal);
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runIn(page: PageRunner, command: readonly string[]): Promise<void> {
  const started = page.start(command);
  const code = await started.ended;
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${started.printed()}`);
}

/** The lines of a redis.conf. */
function settingsOf(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]));
}
