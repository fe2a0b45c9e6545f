/** A gateway to attack, of three processes on a Redis and a database of their own. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fleet } from "../../chaos/gateways.ts";
import { Workspace } from "../../e2e/identity/workspace.ts";
import { startRedis } from "../../kit/servers/redis.ts";
import type { Field, FieldOptions } from "./field.ts";
import { makeDatabase } from "./shared-postgres.ts";

const PROCESSES = 3;
/** Nobody may be taken for dead on a busy machine: no attack is about that. */
const LEASE = "10s";

export async function startThree(options: FieldOptions): Promise<Field> {
  await using started = new AsyncDisposableStack();
  const redis = await startRedis();
  started.defer(() => redis.stop());
  const database = started.use(await makeDatabase());
  const logs = mkdtempSync(join(tmpdir(), "isthmus-attack-logs-"));
  started.defer(() => rmSync(logs, { recursive: true, force: true }));
  const config = `[gateway]
${options.gateway ?? ""}
[database]
url = ${JSON.stringify(database.url)}
[shared]
url = ${JSON.stringify(redis.url)}
[cluster]
lease = "${LEASE}"
${options.config}`;
  const place = started.use(new Workspace(config));
  // Before the first start: the tables are made once, by one process.
  const tokens = await createTokens(place, Object.entries(options.tokens ?? {}));
  const { openFiles } = options;
  const env = { HOME: place.folder, ...options.env };
  const fleet = await Fleet.start({ count: PROCESSES, config, logs, env, openFiles });
  started.defer(() => fleet.stop());
  const origins = Array.from({ length: PROCESSES }, (_, at) => fleet.origin(at));
  const kept = started.move();
  return {
    origins,
    tokens,
    // Each process has a config of its own: by its address the verb means the gateway, whatever config is here.
    run: (args, env) => place.run(isElsewhere(args) ? args : [...args, "--url", origins[0] ?? ""], env),
    folder: (at) => fleet.folder(at),
    home: place.folder,
    log: () =>
      readdirSync(logs)
        .map((name) => readFileSync(join(logs, name), "utf8"))
        .join(""),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** It says itself which one it means. */
function isElsewhere(args: readonly string[]): boolean {
  return args.includes("--url") || args.includes("--config");
}

/** All but the first side by side. */
async function createTokens(
  place: Workspace,
  [first, ...others]: readonly [name: string, args: readonly string[]][],
): Promise<Record<string, string>> {
  const create = async ([name, args]: [string, readonly string[]]) => [name, await place.createToken(...args)] as const;
  const made = first ? [await create(first)] : [];
  return Object.fromEntries([...made, ...(await Promise.all(others.map(create)))]);
}
