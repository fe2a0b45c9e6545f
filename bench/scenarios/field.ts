/** The candidates of one scenario, all running side by side on one upstream. */
import type { Candidate, Running } from "../candidates/candidate.ts";
import type { LoadProcess } from "../load/load-process.ts";
import { startReady } from "../measure/start.ts";
import type { Report } from "../measure/table.ts";
import type { BenchOptions } from "../options.ts";
import { startUpstream, type UpstreamKind } from "../upstream/start-upstream.ts";

export type Bench = { load: LoadProcess; options: BenchOptions; candidates: readonly Candidate[]; report: Report };

export type Field = { running: Map<string, Running>; stop(): Promise<void> };

/** One that does not start is noted and left out. */
export async function startField(bench: Bench, kind: UpstreamKind, toolCount: number): Promise<Field> {
  const upstream = await startUpstream(kind, toolCount);
  const running = new Map<string, Running>();
  for (const candidate of bench.candidates.filter(({ upstreams }) => upstreams.includes(kind))) {
    try {
      running.set(candidate.name, await startReady(candidate, upstream));
    } catch (error) {
      bench.report.addNote(
        `${candidate.name} (${kind}, ${toolCount} tools) did not start: ${(error as Error).message}`,
      );
    }
  }
  return {
    running,
    async stop() {
      await Promise.all([...running.values()].map((one) => one.stop()));
      await upstream.stop();
    },
  };
}

export function kindOf(bench: Bench, name: string): Candidate["kind"] | undefined {
  return bench.candidates.find((candidate) => candidate.name === name)?.kind;
}
