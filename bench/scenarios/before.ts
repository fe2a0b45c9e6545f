/** What a change costs: this build beside another one (`--before`), bare and governed, HTTP and stdio upstreams. */
import { existsSync, readFileSync } from "node:fs";
import type { Running } from "../candidates/candidate.ts";
import { describeServer, GOVERNED, isthmusMissing, startIsthmus } from "../candidates/isthmus.ts";
import { waitUntilListed } from "../measure/start.ts";
import { asShare, controlDifference, divide, judge, least } from "../measure/stats.ts";
import { startUpstream, type UpstreamKind } from "../upstream/start-upstream.ts";
import type { Bench } from "./field.ts";
import { measureLoaded } from "./loaded-rounds.ts";

const TOOLS = 20;
const [NOW, NOW_TWIN, BEFORE, BEFORE_TWIN] = ["this build", "its twin", "the build before", "twin of that"];
const NAMES = [NOW, NOW_TWIN, BEFORE, BEFORE_TWIN];
/** What one process got from its compiler stays with it: it takes several to tell a few percent. */
const STARTS = 4;
const LIMIT = 0.03;

const CASES = [
  { upstream: "http", sessions: 16, isGoverned: false },
  { upstream: "stdio", sessions: 16, isGoverned: false },
  { upstream: "http", sessions: 16, isGoverned: true },
] as const satisfies readonly { upstream: UpstreamKind; sessions: number; isGoverned: boolean }[];

type Case = (typeof CASES)[number];
/** Least CPU of each start, by name. */
type Samples = ReadonlyMap<string, number[]>;

export async function benchBefore(bench: Bench): Promise<void> {
  const { before } = bench.options;
  if (before === undefined)
    return bench.report.addNote("before skipped: --before FILE names the build to compare with");
  const missing = existsSync(before) ? isthmusMissing() : `${before} is not there`;
  if (missing !== undefined) return bench.report.addNote(`before skipped: ${missing}`);
  for (const one of CASES) {
    const samples: Samples = new Map(NAMES.map((name) => [name, []]));
    for (let start = 0; start < STARTS; start++) await measureStarted(bench, one, before, samples);
    report(bench, one, samples);
  }
}

async function measureStarted(bench: Bench, one: Case, before: string, samples: Samples): Promise<void> {
  const upstream = await startUpstream(one.upstream, TOOLS);
  const running = new Map<string, Running>();
  try {
    const config = `${describeServer(upstream)}\n${one.isGoverned ? readFileSync(GOVERNED, "utf8") : ""}`;
    for (const name of NAMES) {
      const isBefore = name === BEFORE || name === BEFORE_TWIN;
      const gateway = await startIsthmus(config, { kind: name, ...(isBefore ? { program: before } : {}) });
      running.set(name, gateway);
      await waitUntilListed(gateway, TOOLS);
    }
    const { figures } = await measureLoaded(bench, {
      title: describe(one),
      running,
      sessions: one.sessions,
      load: "call",
      controls: [],
      settleOn: [],
      isContender: () => true,
    });
    for (const [name, { cpuMs }] of figures) if (cpuMs !== undefined) samples.get(name)?.push(cpuMs);
  } finally {
    await Promise.all([...running.values()].map((gateway) => gateway.stop()));
    await upstream.stop();
  }
}

function describe({ upstream, sessions, isGoverned }: Case): string {
  return `${isGoverned ? "governed, " : ""}${upstream} upstream, ${sessions} sessions`;
}

function report(bench: Bench, one: Case, samples: Samples): void {
  const best = (...names: string[]): number | undefined => least(names.flatMap((name) => samples.get(name) ?? []));
  const rows = [...samples].map(([name, cpu]) => [name, ...cpu.map((ms) => ms.toFixed(4)), best(name)?.toFixed(4)]);
  const columns = ["gateway", ...Array.from({ length: STARTS }, (_, index) => `start ${index + 1}`), "least"];
  bench.report.addTable({ title: `CPU ms per call, ${describe(one)}`, columns, rows });
  const controls = [controlDifference(best(NOW), best(NOW_TWIN)), controlDifference(best(BEFORE), best(BEFORE_TWIN))];
  const ratio = divide(best(NOW, NOW_TWIN), best(BEFORE, BEFORE_TWIN));
  bench.report.addVerdict(
    judge({
      bar: `${describe(one)}: CPU per call grew by <= control + 3 %`,
      value: ratio === undefined ? undefined : ratio - 1,
      limit: LIMIT,
      control: controls.some((control) => control === undefined)
        ? undefined
        : Math.max(...controls.filter((control) => control !== undefined)),
      controlUse: "allow",
      format: asShare,
    }),
  );
}
