/** Everything of a run with several gateways: stores, servers behind them, the gateways, and nginx before them. */
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres } from "../kit/servers/postgres.ts";
import { startRedis } from "../kit/servers/redis.ts";
import type { TestServer } from "../kit/servers/test-server.ts";
import { type Balancer, startBalancer } from "./balancer.ts";
import { Fleet, PROGRAM } from "./gateways.ts";
import type { GovernedField } from "./governed/governed-load.ts";
import { firstToken, gatherPeople } from "./governed/people.ts";
import { governanceOf } from "./governed/policy.ts";
import { startHttpUpstream } from "./upstreams/http-upstream.ts";

const STDIO = fileURLToPath(new URL("upstreams/stdio-upstream.ts", import.meta.url));

export type Field = {
  readonly redis: TestServer;
  readonly postgres: TestServer;
  readonly fleet: Fleet;
  readonly balancer: Balancer;
  /** The file in which every execution stands. */
  readonly record: string;
  /** Where callers are asked who they are. */
  readonly governed?: GovernedField;
  stop(): Promise<void>;
};

export type FieldOptions = {
  readonly gateways: number;
  readonly logs?: string | undefined;
  /** With everything at work that judges, counts and records calls. */
  readonly isGoverned?: boolean;
  /** Other ways to the stores than the straight one: a proxy that breaks them, say. */
  readonly reach?: (
    redis: string,
    postgres: string,
  ) => Promise<{ redis: string; postgres: string; close(): Promise<void> }>;
};

/** A lease of one second: a process that died is noticed while the load goes on. */
function config(
  reached: { redis: string; postgres: string },
  urls: { legacy: string; modern: string },
  record: string,
): string {
  const quote = JSON.stringify;
  return `[gateway]
timeout = "20s"
drain = "5s"
[database]
url = ${quote(reached.postgres)}
[shared]
url = ${quote(reached.redis)}
[cluster]
lease = "1s"
[[servers]]
id = "legacy"
url = ${quote(urls.legacy)}
sessions = "per-client"
breaker = false
[[servers]]
id = "modern"
url = ${quote(urls.modern)}
task = "auto"
breaker = false
[[servers]]
id = "rated"
url = ${quote(urls.modern)}
breaker = false
[[servers]]
id = "budgeted"
url = ${quote(urls.modern)}
breaker = false
[[limits]]
server = "rated"
capacity = 10_000
refill = "1000/s"
concurrency = 1_000
[[limits]]
server = "budgeted"
budget = 1_000_000
[[servers]]
id = "child"
command = ${quote(process.execPath)}
args = [${quote(STDIO)}, ${quote(record)}]
sessions = "per-client"
breaker = false
`;
}

export async function startField(options: FieldOptions): Promise<Field> {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-chaos-"));
  const record = join(folder, "executions.jsonl");
  writeFileSync(record, "");
  if (options.logs !== undefined) mkdirSync(options.logs, { recursive: true });
  const ending: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const end of ending.reverse()) await end();
  };
  try {
    const redis = await startRedis();
    ending.push(() => redis.stop());
    const postgres = await startPostgres();
    ending.push(() => postgres.stop());
    const legacy = await startHttpUpstream(record, "2025");
    ending.push(() => legacy.close());
    const modern = await startHttpUpstream(record, "2026");
    ending.push(() => modern.close());
    const reached = await options.reach?.(redis.url, postgres.url);
    if (reached) ending.push(() => reached.close());
    const text = config(
      reached ?? { redis: redis.url, postgres: postgres.url },
      { legacy: legacy.url, modern: modern.url },
      record,
    );
    const pair = generateKeyPairSync("ed25519");
    const whole = options.isGoverned ? text + governanceOf(pair.publicKey, modern.url) : text;
    writeFileSync(join(folder, "isthmus.toml"), whole);
    const rootToken = options.isGoverned ? await firstToken(PROGRAM, folder) : "";
    const fleet = await Fleet.start({ count: options.gateways, config: whole, logs: options.logs });
    ending.push(() => fleet.stop());
    const balancer = await startBalancer(fleet.ports);
    ending.push(() => balancer.stop());
    const field = { redis, postgres, fleet, balancer, record, stop };
    if (!options.isGoverned) return field;
    const people = await gatherPeople(balancer.origin, rootToken);
    return { ...field, governed: { people, operatorKey: pair.privateKey } };
  } catch (error) {
    await stop();
    throw error;
  }
}
