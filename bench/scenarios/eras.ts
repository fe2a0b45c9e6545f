/** What it costs to go from one era of MCP to the other: tools/call without questions, all four pairs side by side. */
import type { Running } from "../candidates/candidate.ts";
import { isthmusMissing, startIsthmus } from "../candidates/isthmus.ts";
import { waitUntilListed } from "../measure/start.ts";
import { asTimes, controlDifference, divide, judge, least } from "../measure/stats.ts";
import { type Era, startUpstream, type Upstream } from "../upstream/start-upstream.ts";
import type { Bench } from "./field.ts";
import { type LoadedResult, measureLoaded } from "./loaded-rounds.ts";

const SESSIONS = 16;
const TOOLS = 20;
const PROTOCOL = { "2025": "streamable", "2026": "modern" } as const;
const LIMIT = 1.15;

const nameOf = (client: Era, server: Era): string => `${client} client, ${server} server`;
const twinOf = (name: string): string => `${name}, twin`;

const OLD = nameOf("2025", "2025");
const NEW = nameOf("2026", "2026");
const UP = nameOf("2026", "2025");
const DOWN = nameOf("2025", "2026");
const PAIRS = [OLD, NEW, UP, DOWN];
/** What is judged, and what it is held against. */
const BARS = [
  [UP, NEW],
  [DOWN, OLD],
  [NEW, OLD],
] as const;

/** A gateway of its own, loaded by clients of one era alone. */
async function startPair(upstream: Upstream, client: Era): Promise<Running> {
  if (upstream.kind !== "http") throw new Error("the eras are compared over HTTP");
  const config = `[[servers]]\nid = "up"\nprefix = ""\nurl = ${JSON.stringify(upstream.url)}\n`;
  const running: Running = { ...(await startIsthmus(config)), protocol: PROTOCOL[client] };
  await waitUntilListed(running, TOOLS);
  return running;
}

export async function benchEras(bench: Bench): Promise<void> {
  const missing = isthmusMissing();
  if (missing !== undefined) return bench.report.addNote(`eras skipped: ${missing}`);
  const servers = { "2025": await startUpstream("http", TOOLS), "2026": await startUpstream("http", TOOLS, "2026") };
  const running = new Map<string, Running>();
  try {
    for (const client of ["2025", "2026"] as const) {
      for (const server of ["2025", "2026"] as const) {
        const name = nameOf(client, server);
        running.set(name, await startPair(servers[server], client));
        running.set(twinOf(name), await startPair(servers[server], client));
      }
    }
    const title = `CPU per call between the eras, HTTP upstream, ${SESSIONS} sessions`;
    const result = await measureLoaded(bench, {
      title,
      running,
      sessions: SESSIONS,
      load: "call",
      controls: PAIRS.map((name) => [name, twinOf(name)] as const),
      settleOn: ["cpuMs"],
      isContender: () => true,
    });
    report(bench, title, result);
  } finally {
    await Promise.all([...running.values()].map((one) => one.stop()));
    await servers["2025"].stop();
    await servers["2026"].stop();
  }
}

function report(bench: Bench, title: string, { figures, rounds }: LoadedResult): void {
  const cpuOf = (name: string): number | undefined => figures.get(name)?.cpuMs;
  /** A pair and its twin are the same program: the lesser of the two is nearer to the truth. */
  const best = (name: string): number | undefined => least([name, twinOf(name)].flatMap((one) => cpuOf(one) ?? []));
  const noise = (name: string): number | undefined => controlDifference(cpuOf(name), cpuOf(twinOf(name)));
  const rows = PAIRS.map((name) => [
    name,
    cpuOf(name)?.toFixed(4),
    cpuOf(twinOf(name))?.toFixed(4),
    divide(best(name), best(OLD))?.toFixed(2),
    figures.get(name)?.callsPerSecond.toFixed(0),
  ]);
  const columns = ["through the gateway", "CPU ms/call", "its twin", "x 2025 both", "calls/s"];
  bench.report.addTable({ title: `${title} (${rounds} rounds)`, columns, rows });
  for (const [name, against] of BARS) {
    const noises = [noise(name), noise(against)].filter((one) => one !== undefined);
    bench.report.addVerdict(
      judge({
        bar: `CPU per call of ${name} <= ${LIMIT}x ${against} + control`,
        value: divide(best(name), best(against)),
        limit: LIMIT,
        control: noises.length === 2 ? Math.max(...noises) : undefined,
        controlUse: "allow",
        format: asTimes,
      }),
    );
  }
}
