/** Spawn to the first list answered, of the program itself (never through npm). */
import { runRounds } from "../measure/rounds.ts";
import { measureStartMs } from "../measure/start.ts";
import { asShare, controlDifference, divide, isSettled, judge, least } from "../measure/stats.ts";
import { startUpstream, type UpstreamKind } from "../upstream/start-upstream.ts";
import { type Bench, kindOf } from "./field.ts";

async function benchStartsOn(bench: Bench, kind: UpstreamKind): Promise<void> {
  const upstream = await startUpstream(kind, 20);
  const candidates = new Map(
    bench.candidates
      .filter((candidate) => candidate.kind !== "direct" && candidate.upstreams.includes(kind))
      .map((candidate) => [candidate.name, candidate]),
  );
  const leastOf = (samples: ReadonlyMap<string, number[]>, name: string): number | undefined =>
    least(samples.get(name) ?? []);
  const controlOf = (samples: ReadonlyMap<string, number[]>): number | undefined =>
    controlDifference(leastOf(samples, "isthmus"), leastOf(samples, "isthmus twin"));
  const fastestPeer = (samples: ReadonlyMap<string, number[]>): string | undefined =>
    [...samples.keys()]
      .filter((name) => kindOf(bench, name) === "peer")
      .sort((a, b) => (leastOf(samples, a) ?? 0) - (leastOf(samples, b) ?? 0))[0];
  try {
    const { samples, errors, rounds } = await runRounds<number>({
      names: [...candidates.keys()],
      ...bench.options.rounds,
      async measure(name) {
        const candidate = candidates.get(name);
        if (candidate === undefined) throw new Error("unknown");
        return measureStartMs(candidate, upstream);
      },
      isSettled: (all) => !all.has("isthmus") || !all.has("isthmus twin") || isSettled(controlOf(all)),
      contenders: (all) => ["isthmus", "isthmus twin", fastestPeer(all) ?? ""].filter((name) => candidates.has(name)),
    });
    for (const [name, message] of errors) bench.report.addNote(`${name} (start, ${kind}) failed: ${message}`);
    const rows = [...samples.keys()].map((name) => [name, leastOf(samples, name)?.toFixed(0)]);
    const title = `start to the first list answered, ${kind} upstream (${rounds} rounds)`;
    bench.report.addTable({ title, columns: ["candidate", "ms"], rows });
    // A stdio server's own start is in every candidate's figure and is none of its doing: shown, not judged.
    if (kind === "stdio") return;
    const peer = fastestPeer(samples);
    bench.report.addVerdict(
      judge({
        bar: `start, ${kind} upstream, <= half the fastest peer's time (${peer ?? "none"})`,
        value: divide(leastOf(samples, "isthmus"), peer === undefined ? undefined : leastOf(samples, peer)),
        limit: 0.5,
        control: controlOf(samples),
        format: asShare,
      }),
    );
  } finally {
    await upstream.stop();
  }
}

export async function benchStarts(bench: Bench): Promise<void> {
  for (const kind of ["http", "stdio"] as const) await benchStartsOn(bench, kind);
}
