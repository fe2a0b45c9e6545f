/** Measures running candidates under the same load in interleaved rounds. Shared by call, list, flat and eras. */
import type { Running } from "../candidates/candidate.ts";
import type { LoadKind } from "../load/load-process.ts";
import { readCpuMs } from "../measure/cpu.ts";
import { readPeakBytes } from "../measure/memory.ts";
import { runRounds } from "../measure/rounds.ts";
import { controlDifference, isSettled, least } from "../measure/stats.ts";
import type { Bench } from "./field.ts";

export type Figures = {
  callsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Absent where there is no process between load and upstream. */
  cpuMs: number | undefined;
  peakBytes: number | undefined;
};
export type FigureName = "callsPerSecond" | "p99Ms" | "cpuMs";

export type LoadedOptions = {
  title: string;
  running: ReadonlyMap<string, Running>;
  sessions: number;
  load: LoadKind;
  /** Candidates and their twins, and the figures in which they must agree. */
  controls: readonly (readonly [string, string])[];
  settleOn: readonly FigureName[];
  /** Whether a candidate is still needed after the least number of rounds. */
  isContender: (name: string, figures: ReadonlyMap<string, Figures>) => boolean;
};

const WARM_MS = 60;

async function measureOnce(bench: Bench, options: LoadedOptions, name: string, round: number): Promise<Figures> {
  const { load } = bench;
  const running = options.running.get(name);
  const key = `${name} ${options.sessions}`;
  if (running === undefined) throw new Error("not running");
  if (round === 0) await load.open(key, running, options.sessions);
  await load.warm(key, options.load, round === 0 ? bench.options.firstWarmMs : WARM_MS, 20_000);
  const before = running.pid === undefined ? 0 : readCpuMs(running.pid);
  const result = await load.run(key, bench.options.runMs);
  const used = running.pid === undefined ? undefined : readCpuMs(running.pid) - before;
  return {
    callsPerSecond: result.calls / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    cpuMs: used === undefined ? undefined : used / result.calls,
    peakBytes: running.pid === undefined ? undefined : readPeakBytes(running.pid),
  };
}

/** The best a candidate showed: least times, greatest rate. */
function summarise(samples: readonly Figures[]): Figures {
  return {
    callsPerSecond: Math.max(...samples.map((sample) => sample.callsPerSecond)),
    p50Ms: Math.min(...samples.map((sample) => sample.p50Ms)),
    p99Ms: Math.min(...samples.map((sample) => sample.p99Ms)),
    cpuMs: least(samples.flatMap((sample) => sample.cpuMs ?? [])),
    peakBytes: samples.at(-1)?.peakBytes,
  };
}

function summariseAll(samples: ReadonlyMap<string, Figures[]>): Map<string, Figures> {
  return new Map([...samples].map(([name, list]) => [name, summarise(list)]));
}

export type LoadedResult = {
  figures: Map<string, Figures>;
  /** How far candidate and twin are apart in this figure; of several, those that are furthest. */
  control(name: FigureName): number | undefined;
  rounds: number;
};

export async function measureLoaded(bench: Bench, options: LoadedOptions): Promise<LoadedResult> {
  const names = [...options.running.keys()];
  const controlOf = (figures: ReadonlyMap<string, Figures>, figure: FigureName): number | undefined => {
    const apart = options.controls.map(([name, twin]) =>
      controlDifference(figures.get(name)?.[figure], figures.get(twin)?.[figure]),
    );
    return apart.some((one) => one === undefined) ? undefined : Math.max(...apart.filter((one) => one !== undefined));
  };
  const { samples, errors, rounds } = await runRounds<Figures>({
    names,
    ...bench.options.rounds,
    measure: (name, round) => measureOnce(bench, options, name, round),
    isSettled: (all) => {
      const figures = summariseAll(all);
      // Without a control there is nothing to wait for.
      if (!options.controls.flat().every((name) => figures.has(name))) return true;
      return options.settleOn.every((figure) => isSettled(controlOf(figures, figure)));
    },
    contenders: (all) => {
      const figures = summariseAll(all);
      return names.filter((name) => options.isContender(name, figures));
    },
  });
  for (const name of names) await bench.load.close(`${name} ${options.sessions}`);
  for (const [name, message] of errors) bench.report.addNote(`${name} (${options.title}) failed: ${message}`);
  const figures = summariseAll(samples);
  return { figures, rounds, control: (figure) => controlOf(figures, figure) };
}
