/** Idle memory of every candidate, and what an idle session adds, alone and with an open stream. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { bareHttp } from "../candidates/bare-http.ts";
import type { Candidate } from "../candidates/candidate.ts";
import { readSettledRssBytes } from "../measure/memory.ts";
import { runRounds } from "../measure/rounds.ts";
import { startReady } from "../measure/start.ts";
import { asTimes, controlDifference, divide, isSettled, judge, least } from "../measure/stats.ts";
import { startUpstream } from "../upstream/start-upstream.ts";
import { type Bench, startField } from "./field.ts";

const WARM_SESSIONS = 500;
const SESSION_LIMIT = 4096;
const IDLE_SETTLE_MS = 1_000;
const FEWER_STREAMS = 2_000;
const SPARE_DESCRIPTORS = 500;
const TWINS = ["isthmus", "isthmus twin"] as const;
const asMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const asKilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(2)} KB`;

async function benchIdle(bench: Bench): Promise<void> {
  const bytes = new Map<string, number>();
  for (const kind of ["http", "stdio"] as const) {
    // Over stdio only those that cannot do HTTP; the others are here already.
    const due = bench.candidates.filter(({ upstreams }) => kind === "http" || !upstreams.includes("http"));
    const field = await startField({ ...bench, candidates: due }, kind, 20);
    try {
      for (const [name, { pid }] of field.running) {
        if (pid !== undefined) bytes.set(name, await readSettledRssBytes(pid, IDLE_SETTLE_MS));
      }
    } finally {
      await field.stop();
    }
  }
  const rows = [...bytes].map(([name, value]) => [name, (value / 1e6).toFixed(1)]);
  bench.report.addTable({ title: "idle memory after one list", columns: ["candidate", "MB"], rows });
  const control = controlDifference(bytes.get(TWINS[0]), bytes.get(TWINS[1]));
  const value = bytes.get(TWINS[0]);
  bench.report.addVerdict(judge({ bar: "idle memory <= 90 MB", value, limit: 90e6, control, format: asMegabytes }));
}

/** A stream takes a file descriptor on either side; where too few are allowed, fewer streams must do. */
function countSessions(bench: Bench, hasStream: boolean): number {
  const allowed = Number(/Max open files\s+(\d+)/.exec(readFileSync("/proc/self/limits", "latin1"))?.[1] ?? 0);
  const wanted = bench.options.idleSessions;
  if (!hasStream || allowed >= wanted + WARM_SESSIONS + SPARE_DESCRIPTORS) return wanted;
  bench.report.addNote(`streams: ${FEWER_STREAMS} sessions instead of ${wanted}, as ${allowed} open files are allowed`);
  return Math.min(wanted, FEWER_STREAMS);
}

/** Bytes of resident memory that each further idle session adds. */
async function measureGrowth(bench: Bench, candidate: Candidate, hasStream: boolean): Promise<number> {
  const { load, options } = bench;
  const count = countSessions(bench, hasStream);
  const upstream = await startUpstream("http", 20);
  try {
    const running = candidate === bareHttp ? await candidate.start(upstream) : await startReady(candidate, upstream);
    try {
      if (running.pid === undefined) throw new Error("no process to measure");
      if (candidate === bareHttp) await sleep(500);
      await load.grow(running.url, WARM_SESSIONS, hasStream);
      const before = await readSettledRssBytes(running.pid, options.settleMs);
      await load.grow(running.url, count, hasStream);
      const after = await readSettledRssBytes(running.pid, options.settleMs);
      return (after - before) / count;
    } finally {
      await load.shrink();
      await running.stop();
    }
  } finally {
    await upstream.stop();
  }
}

async function benchGrowth(bench: Bench, hasStream: boolean): Promise<void> {
  const twins = bench.candidates.filter(({ name }) => TWINS.includes(name as (typeof TWINS)[number]));
  const candidates = new Map([...twins, ...(hasStream ? [bareHttp] : [])].map((one) => [one.name, one]));
  const controlOf = (samples: ReadonlyMap<string, number[]>): number | undefined => {
    const [one, other] = TWINS.map((name) => least(samples.get(name) ?? []));
    if (hasStream || one === undefined || other === undefined) return controlDifference(one, other);
    // Of a figure far below its limit, pages of memory are a large share: here the limit is the measure.
    return Math.abs(one - other) / SESSION_LIMIT;
  };
  const { samples, errors } = await runRounds<number>({
    names: [...candidates.keys()],
    atLeast: 1,
    atMost: bench.options.isQuick || twins.length < 2 ? 1 : 3,
    measure: (name) => measureGrowth(bench, candidates.get(name) ?? bareHttp, hasStream),
    isSettled: (all) => isSettled(controlOf(all)),
    contenders: () => [...candidates.keys()],
  });
  const what = hasStream ? "with a stream" : "without a connection";
  for (const [name, message] of errors) bench.report.addNote(`${name} (idle sessions ${what}) failed: ${message}`);
  const rows = [...samples].map(([name, list]) => [name, ((least(list) ?? 0) / 1024).toFixed(2)]);
  const title = `an idle session ${what}, growth over ${countSessions(bench, hasStream)}`;
  bench.report.addTable({ title, columns: ["candidate", "KB/session"], rows });
  const own = least(samples.get(TWINS[0]) ?? []);
  const bar = `idle session ${what} <= ${hasStream ? "1.5x bare node:http" : "4 KB"}`;
  const shared = { bar, control: controlOf(samples) };
  bench.report.addVerdict(
    hasStream
      ? judge({ ...shared, value: divide(own, least(samples.get(bareHttp.name) ?? [])), limit: 1.5, format: asTimes })
      : judge({ ...shared, value: own, limit: SESSION_LIMIT, format: asKilobytes }),
  );
}

export async function benchMemory(bench: Bench): Promise<void> {
  await benchIdle(bench);
  await benchGrowth(bench, false);
  await benchGrowth(bench, true);
}
