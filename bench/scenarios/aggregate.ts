/** A call to one server must cost the same whether the gateway has that server alone or twenty of them. */
import type { Running } from "../candidates/candidate.ts";
import { isthmusMissing, startIsthmus } from "../candidates/isthmus.ts";
import { waitUntilListed } from "../measure/start.ts";
import { asShare, divide, judge } from "../measure/stats.ts";
import { startUpstream, type Upstream, type UpstreamKind } from "../upstream/start-upstream.ts";
import type { Bench } from "./field.ts";
import { type LoadedResult, measureLoaded } from "./loaded-rounds.ts";

const TOOLS = 20;
const MANY = 20;
const ALONE = "1 server";
const ALONE_TWIN = "the same again";
const AGGREGATED = `${MANY} servers`;
const VARIANTS = [
  { name: ALONE, servers: 1 },
  { name: ALONE_TWIN, servers: 1 },
  { name: AGGREGATED, servers: MANY },
] as const;

/** The load calls a tool of the first of them only; all are prefixed, so that each variant does the same work. */
function describeServers(upstream: Upstream, count: number): string {
  return Array.from({ length: count }, (_, index) => {
    const where =
      upstream.kind === "http"
        ? `url = "http://127.0.0.1:${upstream.port}/s${index}/mcp"`
        : `command = ${JSON.stringify(upstream.command)}\nargs = ${JSON.stringify(upstream.args)}`;
    return `[[servers]]\nid = "s${index}"\n${where}\n`;
  }).join("\n");
}

function report(bench: Bench, where: string, { figures, control, rounds }: LoadedResult): void {
  const rows = [...figures].map(([name, one]) => [
    name,
    one.cpuMs?.toFixed(4),
    one.callsPerSecond.toFixed(0),
    one.p99Ms.toFixed(2),
  ]);
  const columns = ["behind the gateway", "CPU ms/call", "calls/s", "p99 ms"];
  bench.report.addTable({ title: `tools/call on one server, ${where} (${rounds} rounds)`, columns, rows });
  const ratio = divide(figures.get(AGGREGATED)?.cpuMs, figures.get(ALONE)?.cpuMs);
  const value = ratio === undefined ? undefined : ratio - 1;
  const bar = `${where}: CPU per call with ${AGGREGATED} exceeds ${ALONE} by <= control + 10 %`;
  const use = { controlUse: "allow", control: control("cpuMs"), format: asShare } as const;
  bench.report.addVerdict(judge({ bar, value, limit: 0.1, ...use }));
}

async function benchKind(bench: Bench, kind: UpstreamKind): Promise<void> {
  const upstream = await startUpstream(kind, TOOLS);
  const running = new Map<string, Running>();
  try {
    for (const { name, servers } of VARIANTS) {
      const one = await startIsthmus(describeServers(upstream, servers));
      running.set(name, one);
      await waitUntilListed(one, servers * TOOLS);
    }
    for (const sessions of bench.options.sessions) {
      const where = `${kind} upstream, ${sessions} sessions`;
      const result = await measureLoaded(bench, {
        title: `aggregate, ${where}`,
        running,
        sessions,
        load: "call",
        controls: [[ALONE, ALONE_TWIN]],
        settleOn: ["cpuMs"],
        isContender: () => true,
      });
      report(bench, where, result);
    }
  } finally {
    await Promise.all([...running.values()].map((one) => one.stop()));
    await upstream.stop();
  }
}

export async function benchAggregate(bench: Bench): Promise<void> {
  const missing = isthmusMissing();
  if (missing !== undefined) return bench.report.addNote(`aggregate skipped: ${missing}`);
  await benchKind(bench, "http");
  await benchKind(bench, "stdio");
}
