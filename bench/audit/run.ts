/**
 * Fills an audit trail through the code that the gateway fills it with, then asks for events and verifies all of it:
 * `node bench/audit/run.ts [--events 10000000] [--only sqlite,postgres]`. Prints what each took.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Change, Records } from "../../src/contract/index.ts";
import { headOf, MAX_BLOCK_EVENTS, makeBlock } from "../../src/mechanisms/audit/block.ts";
import { makeCheckpoint } from "../../src/mechanisms/audit/checkpoints.ts";
import { type EventFilter, findEvents } from "../../src/mechanisms/audit/find-events.ts";
import { passingSigner } from "../../src/mechanisms/audit/index.ts";
import { indexRuns } from "../../src/mechanisms/audit/index-runs.ts";
import { verifyRows } from "../../src/mechanisms/audit/verify-trail.ts";
import { systemClock } from "../../src/server/clock.ts";
import { createLog } from "../../src/server/log.ts";
import { TimerWheel } from "../../src/server/timers.ts";
import { openPostgres } from "../../src/stores/postgres/index.ts";
import { openSqlite } from "../../src/stores/sqlite/connection.ts";
import { openSqliteRecords } from "../../src/stores/sqlite/records.ts";
import { postgresMissing, startPostgres } from "../stores/postgres.ts";
import { AGENTS, agentOf, FIRST_AT, MadeEvents, TENANTS, traceOf } from "./made-events.ts";

/** Between two events. */
const STEP_MS = 5;
const BLOCKS_AT_ONCE = 16;
const QUERIES = 200;
const INDEX_EVERY = 262_144;

const signer = passingSigner();

type Opened = { readonly records: Records; readonly bytes: () => Promise<number>; close(): Promise<void> };

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { events: { type: "string" }, only: { type: "string" } } });
  const count = Number(values.events ?? 10_000_000);
  for (const engine of values.only?.split(",") ?? ["sqlite", "postgres"]) {
    const missing = engine === "postgres" ? postgresMissing() : undefined;
    if (missing !== undefined) console.log(`${engine}: ${missing}`);
    else await measure(engine, count);
  }
}

async function measure(engine: string, count: number): Promise<void> {
  const { records, bytes, close } = engine === "postgres" ? await openServer() : await openFile();
  try {
    console.log(`\n${engine}, ${count.toLocaleString("en")} events`);
    const filling = await timed(() => fill(records, count));
    console.log(
      `  written and indexed: ${rate(count, filling)} events/s, ${filling.toFixed(1)} s, ${mib(await bytes())} on disk`,
    );
    for (const [name, filter] of queries(count)) await ask(records, name, filter);
    const verifying = await timed(async () => {
      const report = await verifyRows(records.audit, { keys: [signer.publicKey] });
      if (!report.isIntact || report.events !== count) throw new Error(JSON.stringify(report));
    });
    console.log(`  verified: ${rate(count, verifying)} events/s, ${verifying.toFixed(1)} s`);
  } finally {
    await close();
  }
}

async function fill(records: Records, count: number): Promise<void> {
  const made = new MadeEvents();
  let head = { writer: "bench_1_0", number: -1, hash: "", spooled: 0 };
  let indexed = 0;
  let writing = Promise.resolve();
  for (let index = 0; index < count; ) {
    const changes = [];
    for (let blocks = 0; blocks < BLOCKS_AT_ONCE && index < count; blocks++) {
      const entries = [];
      while (entries.length < MAX_BLOCK_EVENTS && index < count) entries.push(made.entry(index, index++ * STEP_MS));
      const { block, terms } = makeBlock(head, entries, { signer, fromSpool: true });
      changes.push({ table: "audit", type: "block", block, terms } as const);
      head = headOf(block);
    }
    // The next ones are made while these are written.
    await writing;
    writing = write(records, changes);
    if (index - indexed < INDEX_EVERY && index < count) continue;
    indexed = index;
    await writing;
    await indexRuns(records, Number.MAX_SAFE_INTEGER);
    const heads = await records.audit.uncovered(1);
    const last = await records.audit.lastCheckpoint();
    const checkpoint = makeCheckpoint({ last, heads, at: FIRST_AT + index * STEP_MS, signer });
    await records.write([{ table: "audit", type: "checkpoint", checkpoint, heads }]);
  }
}

async function write(records: Records, changes: readonly Change[]): Promise<void> {
  if (!(await records.write(changes))) throw new Error("the chain was not continued");
}

type Filter = (random: number) => EventFilter;

function queries(count: number): readonly (readonly [string, Filter])[] {
  const timeOf = (index: number) => FIRST_AT + index * STEP_MS;
  const within = (index: number) => ({ from: timeOf(index), to: timeOf(index) + 60_000 });
  return [
    ["newest", () => ({})],
    ["trace", (index) => ({ traceId: traceOf(index) })],
    ["a trace that is not there", (index) => ({ traceId: traceOf(count + index) })],
    ["type", () => ({ type: "TOOL_BLOCKED" })],
    ["actor", (index) => ({ actor: agentOf(index) })],
    ["type and actor", (index) => ({ type: "TOOL_BLOCKED", actor: agentOf(index) })],
    ["target", (index) => ({ server: `server-${index % 10}`, name: `tool-${Math.floor(index / 10) % 10}` })],
    ["tenant", (index) => ({ tenant: `tenant-${index % TENANTS}` })],
    ["a minute", within],
    ["actor in a minute", (index) => ({ actor: `agent-${index % AGENTS}`, ...within(index) })],
  ];
}

/** A page of a hundred, of values from all over the trail. */
async function ask(records: Records, name: string, filterOf: (index: number) => EventFilter): Promise<void> {
  const total = (await records.audit.chain("bench_1_0", 0, 1)).length === 0 ? 1 : await eventCount(records);
  const times: number[] = [];
  let found = 0;
  for (let query = 0; query < QUERIES; query++) {
    const index = Math.floor(total * ((query * 0.6180339887) % 1));
    times.push(
      await timed(async () => {
        found += (await findEvents(records.audit, filterOf(index), { limit: 100 })).events.length;
      }),
    );
  }
  times.sort((a, b) => a - b);
  const at = (part: number) => ((times[Math.floor(QUERIES * part)] ?? 0) * 1_000).toFixed(1);
  console.log(
    `  ${name.padEnd(28)} p50 ${at(0.5).padStart(7)} ms   p95 ${at(0.95).padStart(7)} ms   ${(found / QUERIES).toFixed(1)} events each`,
  );
}

async function eventCount(records: Records): Promise<number> {
  const head = await records.audit.head("bench_1_0");
  return head?.spooled ?? 0;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}

function rate(count: number, seconds: number): string {
  return Math.round(count / seconds).toLocaleString("en");
}

function mib(bytes: number): string {
  return `${Math.round(bytes / 1_048_576).toLocaleString("en")} MiB`;
}

async function openFile(): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-bench-audit-"));
  const file = join(folder, "isthmus.db");
  const connection = await openSqlite(file);
  return {
    records: await openSqliteRecords({ connection }),
    bytes: async () => statSync(file).size,
    async close() {
      connection.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openServer(): Promise<Opened> {
  const server = await startPostgres();
  const timers = new TimerWheel({ clock: systemClock, onError: (error) => console.error(error) });
  const { records } = await openPostgres({
    url: server.url,
    timers,
    log: createLog({ level: "error", format: "json", write: (text) => process.stderr.write(text) }),
  });
  return {
    records,
    bytes: () => databaseSize(server.url),
    async close() {
      await records.close();
      timers.close();
      await server.stop();
    },
  };
}

async function databaseSize(url: string): Promise<number> {
  const { default: pg } = await import("pg");
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query("select pg_database_size(current_database()) as size");
  await client.end();
  return Number(rows[0]?.size);
}

await main();
