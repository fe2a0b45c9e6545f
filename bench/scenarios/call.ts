/** tools/call with 300-byte arguments, HTTP and stdio upstreams, at 1, 16 and 64 sessions. */
import { asFraction, asTimes, divide, judge } from "../measure/stats.ts";
import type { UpstreamKind } from "../upstream/start-upstream.ts";
import { type Bench, kindOf, startField } from "./field.ts";
import { type Figures, type LoadedResult, measureLoaded } from "./loaded-rounds.ts";

const UPSTREAM_NAME = { http: "HTTP", stdio: "stdio" } as const;

/** The peer with the least CPU per call. */
function findBestPeer(bench: Bench, figures: ReadonlyMap<string, Figures>): string | undefined {
  const peers = [...figures].filter(([name, { cpuMs }]) => kindOf(bench, name) === "peer" && cpuMs !== undefined);
  peers.sort(([, a], [, b]) => (a.cpuMs ?? 0) - (b.cpuMs ?? 0));
  return peers[0]?.[0];
}

function addTable(bench: Bench, title: string, result: LoadedResult): void {
  const nginxCpu = result.figures.get("nginx")?.cpuMs;
  const rows = [...result.figures].map(([name, figures]) => [
    name,
    figures.callsPerSecond.toFixed(0),
    figures.p50Ms.toFixed(2),
    figures.p99Ms.toFixed(2),
    figures.cpuMs?.toFixed(4),
    divide(figures.cpuMs, nginxCpu)?.toFixed(2),
    figures.peakBytes === undefined ? undefined : (figures.peakBytes / 1e6).toFixed(0),
  ]);
  const columns = ["candidate", "calls/s", "p50 ms", "p99 ms", "CPU ms/call", "x nginx", "peak MB"];
  bench.report.addTable({ title: `${title} (${result.rounds} rounds)`, columns, rows });
}

function addVerdicts(bench: Bench, kind: UpstreamKind, sessions: number, { figures, control }: LoadedResult): void {
  const own = figures.get("isthmus");
  const bestPeer = findBestPeer(bench, figures);
  const peerCpu = bestPeer === undefined ? undefined : figures.get(bestPeer)?.cpuMs;
  const where = `${UPSTREAM_NAME[kind]} ${sessions} sessions`;
  const share = kind === "http" ? 12 : 5;
  bench.report.addVerdict(
    judge({
      bar: `${where} CPU <= 1/${share} of the best peer (${bestPeer ?? "none"})`,
      value: divide(own?.cpuMs, peerCpu),
      limit: 1 / share,
      control: control("cpuMs"),
      format: asFraction,
    }),
  );
  if (kind === "stdio") return;
  const nginx = figures.get("nginx");
  const nginxBar = { value: divide(own?.cpuMs, nginx?.cpuMs), limit: 3, control: control("cpuMs"), format: asTimes };
  bench.report.addVerdict(judge({ bar: `${where} CPU <= 3x nginx`, ...nginxBar }));
  if (sessions !== 64) return;
  const p99 = { value: divide(own?.p99Ms, nginx?.p99Ms), limit: 2.5, control: control("p99Ms"), format: asTimes };
  bench.report.addVerdict(judge({ bar: `${where} p99 <= 2.5x nginx`, ...p99 }));
}

export async function benchCalls(bench: Bench): Promise<void> {
  for (const kind of ["http", "stdio"] as const) {
    const field = await startField(bench, kind, 20);
    try {
      for (const sessions of bench.options.sessions) {
        const title = `tools/call, ${UPSTREAM_NAME[kind]} upstream, ${sessions} sessions`;
        const result = await measureLoaded(bench, {
          title,
          running: field.running,
          sessions,
          load: "call",
          controls: [["isthmus", "isthmus twin"]],
          settleOn: kind === "http" && sessions === 64 ? ["cpuMs", "p99Ms"] : ["cpuMs"],
          isContender: (name, figures) =>
            ["isthmus", "proxy"].includes(kindOf(bench, name) ?? "") || name === findBestPeer(bench, figures),
        });
        addTable(bench, title, result);
        if (sessions >= 16) addVerdicts(bench, kind, sessions, result);
      }
    } finally {
      await field.stop();
    }
  }
}
