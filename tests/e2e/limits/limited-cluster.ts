/** Three gateways on one Redis, and one server behind them under many names, each with a limit of its own. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { startHttpUpstream } from "../../chaos/upstreams/http-upstream.ts";
import { send } from "../processes/client.ts";
import { startCluster, type TestCluster } from "../processes/cluster.ts";

/** Nobody may be taken for dead while a thousand calls come at once, on however busy a machine. */
const LEASE_MS = 6_000;

export type LimitedCluster = AsyncDisposable & {
  readonly cluster: TestCluster;
  /** The clock by which tokens come back, in ms. */
  clock(): Promise<number>;
  /** How often a server was really called with this mark. */
  executions(mark: string): number;
};

/** `limits`: by the id of the server it is for, the rest of its `[[limits]]` table. `more`: further tables. */
export async function startLimitedCluster(
  limits: Readonly<Record<string, string>>,
  more = "",
): Promise<LimitedCluster> {
  await using started = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "isthmus-limits-"));
  started.defer(() => rmSync(folder, { recursive: true, force: true }));
  const record = join(folder, "executions.jsonl");
  writeFileSync(record, "");
  const upstream = await startHttpUpstream(record, "2026");
  started.defer(() => upstream.close());
  const tables = Object.entries(limits).map(
    ([id, limit]) => `[[servers]]\nid = "${id}"\nurl = "${upstream.url}"\nconcurrency = 1024\nbreaker = false
[[limits]]\nserver = "${id}"\n${limit}\n`,
  );
  const cluster = await startCluster({ servers: tables.join("") + more, leaseMs: LEASE_MS });
  started.use(cluster);
  // One that is lost comes back by itself: the tests end Redis.
  const redis = new Redis(cluster.redis.url, { retryStrategy: () => 100, maxRetriesPerRequest: null });
  redis.on("error", () => undefined);
  started.defer(() => redis.disconnect());
  const kept = started.move();
  return {
    cluster,
    async clock() {
      const [seconds, micros] = await redis.time();
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    },
    executions: (mark) =>
      readFileSync(record, "utf8")
        .split("\n")
        .filter((line) => line.includes(JSON.stringify(mark))).length,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

export type Outcome = { readonly code: string; readonly retryAfterMs?: number; readonly text: string };

let lastId = 0;

/** One call without a session, on a connection of its own. `code`: "ok", or that of our own error. */
export async function callOnce(url: string, server: string, args: object = {}, tool = "slow"): Promise<Outcome> {
  const params = { name: `${server}.${tool}`, arguments: { mark: server, ms: 0, ...args } };
  const { status, message, text } = await send(url, "POST", {}, { id: ++lastId, method: "tools/call", params });
  const result = message?.result as
    | {
        isError?: boolean;
        content: { text: string }[];
        _meta?: Record<string, { code: string; retryAfterMs?: number }>;
      }
    | undefined;
  const told = result?.content[0]?.text ?? text;
  const error = result?._meta?.["dev.isthmus/error"];
  if (status !== 200) return { code: `HTTP ${status}`, text };
  if (!result?.isError) return { code: result ? "ok" : "no result", text: told };
  return {
    code: error?.code ?? "isError",
    text: told,
    ...(error?.retryAfterMs && { retryAfterMs: error.retryAfterMs }),
  };
}

export function countOf(outcomes: readonly Outcome[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { code } of outcomes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
