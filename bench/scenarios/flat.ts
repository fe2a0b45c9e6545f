/** CPU per call must not grow with the number of servers or tools behind the gateway. */
import type { Running } from "../candidates/candidate.ts";
import { isthmusMissing, startIsthmus } from "../candidates/isthmus.ts";
import { waitUntilListed } from "../measure/start.ts";
import { asShare, divide, judge } from "../measure/stats.ts";
import { startUpstream } from "../upstream/start-upstream.ts";
import type { Bench } from "./field.ts";
import { measureLoaded } from "./loaded-rounds.ts";

const SESSIONS = 16;
const FEW = "1 server, 20 tools";
const FEW_TWIN = "the same again";
const MANY_SERVERS = "200 servers, 20 tools each";
const MANY_TOOLS = "1 server, 10,000 tools";

/** Servers of one process, told apart by their path; all prefixed, so that every variant does the same work. */
function describeServers(port: number, count: number): string {
  return Array.from(
    { length: count },
    (_, index) => `[[servers]]\nid = "s${index}"\nurl = "http://127.0.0.1:${port}/s${index}/mcp"\n`,
  ).join("\n");
}

export async function benchFlatness(bench: Bench): Promise<void> {
  const missing = isthmusMissing();
  if (missing !== undefined) return bench.report.addNote(`flat skipped: ${missing}`);
  const few = await startUpstream("http", 20);
  const many = await startUpstream("http", 10_000);
  if (few.kind !== "http" || many.kind !== "http") return;
  const running = new Map<string, Running>();
  const variants = [
    { name: FEW, port: few.port, servers: 1, tools: 20 },
    { name: FEW_TWIN, port: few.port, servers: 1, tools: 20 },
    { name: MANY_SERVERS, port: few.port, servers: 200, tools: 4_000 },
    { name: MANY_TOOLS, port: many.port, servers: 1, tools: 10_000 },
  ];
  try {
    for (const { name, port, servers, tools } of variants) {
      const one = await startIsthmus(describeServers(port, servers));
      running.set(name, one);
      await waitUntilListed(one, tools);
    }
    const title = `CPU per call, calls spread over all tools, ${SESSIONS} sessions`;
    const { figures, control, rounds } = await measureLoaded(bench, {
      title,
      running,
      sessions: SESSIONS,
      load: "spread",
      controls: [[FEW, FEW_TWIN]],
      settleOn: ["cpuMs"],
      isContender: () => true,
    });
    const rows = [...figures].map(([name, one]) => [name, one.cpuMs?.toFixed(4), one.callsPerSecond.toFixed(0)]);
    const columns = ["behind the gateway", "CPU ms/call", "calls/s"];
    bench.report.addTable({ title: `${title} (${rounds} rounds)`, columns, rows });
    for (const name of [MANY_SERVERS, MANY_TOOLS]) {
      const ratio = divide(figures.get(name)?.cpuMs, figures.get(FEW)?.cpuMs);
      const value = ratio === undefined ? undefined : Math.abs(ratio - 1);
      const bar = `CPU per call with ${name} differs from ${FEW} by <= control + 10 %`;
      const use = { controlUse: "allow", control: control("cpuMs"), format: asShare } as const;
      bench.report.addVerdict(judge({ bar, value, limit: 0.1, ...use }));
    }
  } finally {
    await Promise.all([...running.values()].map((one) => one.stop()));
    await few.stop();
    await many.stop();
  }
}
