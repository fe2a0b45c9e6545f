/** One server with a very long list that changes all the time, or that says very much, must not keep the others from being called. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { makeTempDir, peerFile } from "../candidates/candidate.ts";
import { isthmusMissing, startIsthmus } from "../candidates/isthmus.ts";
import { createSession, listToolNames } from "../load/mcp-session.ts";
import { waitUntilListed } from "../measure/start.ts";
import { judge } from "../measure/stats.ts";
import { pinned } from "../processes.ts";
import { startUpstream } from "../upstream/start-upstream.ts";
import type { Bench } from "./field.ts";

const SESSIONS = 4;
const RUN_MS = 20_000;
const LIMIT_MS = 50;
const NOISY = fileURLToPath(new URL("../upstream/noisy-upstream.ts", import.meta.url));

type Case = { name: string; servers: number; tools: number; isChanging: boolean; noticeMib?: number };
const CASES: readonly Case[] = [
  { name: "nothing noisy", servers: 0, tools: 0, isChanging: false },
  { name: "100,000 tools, always the same", servers: 1, tools: 100_000, isChanging: false },
  { name: "100,000 tools, one changes", servers: 1, tools: 100_000, isChanging: true },
  { name: "10,000 tools, one changes", servers: 1, tools: 10_000, isChanging: true },
  { name: "5 servers, 10,000 tools each, one of each changes", servers: 5, tools: 10_000, isChanging: true },
  { name: "notifications of 15 MiB", servers: 1, tools: 10, isChanging: false, noticeMib: 15 },
];

/** `busy`: processor time from one turn of the loop to the next. All in ms. */
type Delay = { p50: number; p99: number; max: number; busyP99: number; busyMax: number };

function describe({ servers, tools, isChanging, noticeMib }: Case, quietUrl: string): string {
  const noisy = Array.from({ length: servers }, (_, index) => {
    const [command, args] = pinned("load", process.execPath, [
      NOISY,
      ...["--tools", String(tools)],
      ...(isChanging ? ["--change"] : []),
      ...(noticeMib === undefined ? [] : ["--notice", String(noticeMib)]),
    ]);
    return `[[servers]]\nid = "noisy${index}"\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`;
  });
  return `[[servers]]\nid = "quiet"\nurl = ${JSON.stringify(quietUrl)}\n${noisy.join("")}`;
}

async function measure(bench: Bench, one: Case, quietUrl: string): Promise<{ calls: number; delay: Delay }> {
  const file = join(makeTempDir(), "loop-delay.json");
  const env = { NODE_OPTIONS: `--import ${peerFile("loop-delay.mjs")}`, LOOP_DELAY_FILE: file };
  const running = await startIsthmus(describe(one, quietUrl), { kind: `starve ${one.name}`, env });
  try {
    await waitUntilListed(running, 20 + Math.min(one.tools, 10_000) * one.servers);
    const quiet = { ...running, url: running.url.replace("/mcp", "/quiet/mcp") };
    await bench.load.open(one.name, quiet, SESSIONS);
    await bench.load.warm(one.name, "call", bench.options.firstWarmMs, 20_000);
    process.kill(running.pid ?? -1, "SIGUSR2");
    const stopListing = keepListing(running);
    const { calls } = await bench.load.run(one.name, bench.options.isQuick ? RUN_MS / 4 : RUN_MS);
    await stopListing();
    await sleep(600);
    return { calls, delay: JSON.parse(readFileSync(file, "utf8")) as Delay };
  } finally {
    await bench.load.close(one.name);
    await running.stop();
  }
}

/** A client that lists everything once a second, as those do that are told of changes. */
function keepListing(endpoint: Parameters<typeof createSession>[0]): () => Promise<void> {
  let isOver = false;
  const listing = (async () => {
    const session = createSession(endpoint);
    await session.open();
    while (!isOver) {
      await listToolNames(session);
      await sleep(1_000);
    }
    session.close();
  })();
  return async () => {
    isOver = true;
    await listing;
  };
}

export async function benchStarving(bench: Bench): Promise<void> {
  const missing = isthmusMissing();
  if (missing !== undefined) return bench.report.addNote(`starve skipped: ${missing}`);
  const upstream = await startUpstream("http", 20);
  if (upstream.kind !== "http") return;
  try {
    const rows: string[][] = [];
    let isQuiet = true;
    for (const one of CASES) {
      const { calls, delay } = await measure(bench, one, upstream.url);
      const { p50, p99, max, busyP99, busyMax } = delay;
      rows.push([one.name, String(calls), ...[p50, p99, max, busyP99, busyMax].map((ms) => ms.toFixed(1))]);
      const bar = `event loop with ${one.name}: p99 of its delay <= ${LIMIT_MS} ms`;
      const format = (ms: number) => `${ms.toFixed(1)} ms`;
      // A machine that is busy with something else delays every process: then nothing can be said about this one.
      if (one.servers === 0) isQuiet = p99 < LIMIT_MS / 2;
      else
        bench.report.addVerdict(judge({ bar, value: p99, limit: LIMIT_MS, control: isQuiet ? 0 : undefined, format }));
    }
    const columns = ["beside a quiet server", "calls", "delay p50 ms", "p99 ms", "max ms", "busy p99 ms", "max ms"];
    bench.report.addTable({
      title: "a server that says every second that its list has changed, or more",
      columns,
      rows,
    });
  } finally {
    await upstream.stop();
  }
}
