/** What it costs to be governed: the same load bare, with each part of `governed.toml` alone, and with all of it. */
import { readFileSync } from "node:fs";
import type { Running } from "../candidates/candidate.ts";
import { GOVERNED, isthmusMissing, startIsthmus } from "../candidates/isthmus.ts";
import { nginx } from "../candidates/nginx.ts";
import { waitUntilListed } from "../measure/start.ts";
import { asTimes, divide, judge } from "../measure/stats.ts";
import { startUpstream, type Upstream } from "../upstream/start-upstream.ts";
import type { Bench } from "./field.ts";
import { type LoadedResult, measureLoaded } from "./loaded-rounds.ts";

const SESSIONS = 16;
const TOOLS = 20;
const BARE = "bare";
const TWIN = "bare, twin";
const ALL = "governed";
const NGINX = "nginx";
const LIMIT = 1.25;
const NGINX_LIMIT = 3.5;

/** The parts of the file: each begins with a line `# part: NAME`. */
export function partsOf(text: string): ReadonlyMap<string, string> {
  const parts = text.split(/^# part: /m).slice(1);
  return new Map(
    parts.map((part): [string, string] => [part.slice(0, part.indexOf("\n")).trim(), part.slice(part.indexOf("\n"))]),
  );
}

async function startGateway(upstream: Upstream, governance: string): Promise<Running> {
  if (upstream.kind !== "http") throw new Error("governance is measured over HTTP");
  const running = await startIsthmus(`[[servers]]\nid = "up"\nprefix = ""\nurl = "${upstream.url}"\n${governance}`);
  await waitUntilListed(running, TOOLS);
  return running;
}

export async function benchGoverned(bench: Bench): Promise<void> {
  const missing = isthmusMissing();
  if (missing !== undefined) return bench.report.addNote(`governed skipped: ${missing}`);
  const upstream = await startUpstream("http", TOOLS);
  const running = new Map<string, Running>();
  try {
    const parts = partsOf(readFileSync(GOVERNED, "utf8"));
    running.set(BARE, await startGateway(upstream, ""));
    running.set(TWIN, await startGateway(upstream, ""));
    for (const [name, text] of parts) running.set(`only ${name}`, await startGateway(upstream, text));
    running.set(ALL, await startGateway(upstream, [...parts.values()].join("\n")));
    if (nginx.missing?.() === undefined) running.set(NGINX, await nginx.start(upstream));
    const title = `CPU per call, governed, HTTP upstream, ${SESSIONS} sessions`;
    const result = await measureLoaded(bench, {
      title,
      running,
      sessions: SESSIONS,
      load: "call",
      controls: [[BARE, TWIN]],
      settleOn: ["cpuMs"],
      isContender: () => true,
    });
    report(bench, title, result);
  } finally {
    await Promise.all([...running.values()].map((one) => one.stop()));
    await upstream.stop();
  }
}

function report(bench: Bench, title: string, { figures, control, rounds }: LoadedResult): void {
  const ratio = (name: string, to: string): number | undefined =>
    divide(figures.get(name)?.cpuMs, figures.get(to)?.cpuMs);
  const rows = [...figures].map(([name, one]) => [
    name,
    one.cpuMs?.toFixed(4),
    ratio(name, BARE)?.toFixed(2),
    one.callsPerSecond.toFixed(0),
    one.p50Ms.toFixed(2),
    one.p99Ms.toFixed(2),
  ]);
  const columns = ["gateway", "CPU ms/call", "x bare", "calls/s", "p50 ms", "p99 ms"];
  bench.report.addTable({ title: `${title} (${rounds} rounds)`, columns, rows });
  const use = { controlUse: "allow", control: control("cpuMs"), format: asTimes } as const;
  const bar = `governed CPU per call <= ${LIMIT}x bare + control`;
  bench.report.addVerdict(judge({ bar, value: ratio(ALL, BARE), limit: LIMIT, ...use }));
  if (!figures.has(NGINX)) return;
  const barOfNginx = `governed CPU per call <= ${NGINX_LIMIT}x nginx + control`;
  bench.report.addVerdict(judge({ bar: barOfNginx, value: ratio(ALL, NGINX), limit: NGINX_LIMIT, ...use }));
}
