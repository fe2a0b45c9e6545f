/** Several gateways as one, on a Redis and a PostgreSQL of their own, with nginx before them. */
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { type Balancer, type BalancerOptions, startBalancer } from "../../chaos/balancer.ts";
import { Fleet } from "../../chaos/gateways.ts";
import { startPostgres } from "../../kit/servers/postgres.ts";
import { startRedis } from "../../kit/servers/redis.ts";
import type { TestServer } from "../../kit/servers/test-server.ts";

const BROWSER = fileURLToPath(new URL("servers/browser-server.ts", import.meta.url));

/** Does not end on a busy machine, on which a process may stand still for seconds. */
const LEASE_MS = 15_000;
/** For tests that wait for its end. */
export const SHORT_LEASE_MS = 1_500;

export type ClusterOptions = {
  /** `[[servers]]` tables. */
  readonly servers: string;
  readonly gateways?: number;
  /** Further lines of `[gateway]` and of `[cluster]`. */
  readonly gateway?: string;
  readonly cluster?: string;
  readonly balancer?: BalancerOptions;
  readonly leaseMs?: number;
  /** The folder for what the processes say; else that of ISTHMUS_TEST_LOGS. */
  readonly logs?: string;
};

export type TestCluster = AsyncDisposable & {
  readonly redis: TestServer;
  readonly postgres: TestServer;
  readonly fleet: Fleet;
  readonly balancer: Balancer;
  /** Where each gateway serves, by its place; `/mcp` with all that there is. */
  url(index: number, catalog?: string): string;
};

export async function startCluster(options: ClusterOptions): Promise<TestCluster> {
  await using started = new AsyncDisposableStack();
  const redis = await startRedis();
  started.defer(() => redis.stop());
  const postgres = await startPostgres();
  started.defer(() => postgres.stop());
  const config = `[gateway]
drain = "10s"
${options.gateway ?? ""}
[database]
url = ${JSON.stringify(postgres.url)}
[shared]
url = ${JSON.stringify(redis.url)}
[cluster]
lease = "${options.leaseMs ?? LEASE_MS}ms"
${options.cluster ?? ""}
${options.servers}`;
  const fleet = await Fleet.start({
    count: options.gateways ?? 3,
    config,
    logs: options.logs ?? process.env.ISTHMUS_TEST_LOGS,
  });
  started.defer(() => fleet.stop());
  const balancer = await startBalancer(fleet.ports, options.balancer);
  started.defer(() => balancer.stop());
  const kept = started.move();
  return {
    redis,
    postgres,
    fleet,
    balancer,
    url: (index, catalog) => `${fleet.origin(index)}${catalog === undefined ? "" : `/${catalog}`}/mcp`,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** A mark that no other process has. */
export const newMark = (): string => `mark-${randomUUID()}`;

export function browserTable(id: string, mark: string, more = ""): string {
  const args = [BROWSER, mark].map((arg) => JSON.stringify(arg)).join(", ");
  return `[[servers]]
id = ${JSON.stringify(id)}
command = ${JSON.stringify(process.execPath)}
args = [${args}]
era = "2025"
${more}
`;
}
