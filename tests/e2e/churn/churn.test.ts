/**
 * A thousand clients of both eras come, call and vanish at random points, against ten servers that each leave a process
 * behind if they are let. `CHURN_SEED=n` runs the same clients again.
 */
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defects, metric } from "../../hostile/kit/observe.ts";
import { eventually } from "../../kit/eventually.ts";
import { Random } from "../config/random.ts";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import { ROOT } from "../kit/program.ts";
import { heapBytes, INSPECTABLE } from "./heap-look.ts";
import { type Clients, live2025, live2026, stay } from "./lives.ts";
import { markedProcesses, markLine } from "./marked-processes.ts";

const CLIENTS = 1_000;
/** Enough that compiled code, caches and the profiles of both eras are there before anything is measured. */
const WARM_UP = 300;
const AT_ONCE = 24;
const SHARED = ["s0", "s1", "s2", "s3", "s4", "s5", "s6"];
const PER_CLIENT = ["p0", "p1", "p2"];
/** The server itself and what it leaves behind. */
const PROCESSES_PER_SERVER = 2;

/** Connections whose end the gateway has not seen yet when it is looked at. A leak of one per ten clients would be 100. */
const MAX_MORE_FILES = 6;
/** What the gateway remembers of recent calls for `isthmus trace`, and the collector's noise: 2 kB per client. */
const MAX_MORE_HEAP = 2_000_000;
/** SIGTERM, two seconds, SIGKILL: what the watchdog gives a process that does not want to end. */
const WATCHDOG_MS = 6_000;
const SETTLE_MS = 30_000;
/** More than all waits together, so that what is wrong is said by an assertion, and the gateway is ended after it. */
const TEST_MS = 240_000;
/** Looks in a row, 20 ms apart, that must find nothing under way. */
const LOOKS_AT_REST = 25;
/** Clients whose calls are open when the gateway is killed, each with a process at every per-client server. */
const STAYING = 20;

/** Without breakers: they would spare the servers the calls that never end. */
function describeServers(mark: string): string {
  const server = JSON.stringify([join(ROOT, "tests/e2e/churn/server.sh")]);
  const table = (id: string, more: string) =>
    `[[servers]]\nid = "${id}"\ncommand = "sh"\nargs = ${server}\nera = "2025"\nbreaker = false\n${more}\n[servers.env]\n${markLine(mark)}\n`;
  return [
    // A client of 2025 may come back for its call, its answer and its session; they wait no longer than this.
    '[gateway]\nlogLevel = "warn"\ntimeout = "5s"\nresumeWindow = "1s"\nsessionIdle = "4s"\n',
    ...SHARED.map((id) => table(id, 'sessions = "shared"')),
    // A client that went without a word keeps its process only this long.
    ...PER_CLIENT.map((id) => table(id, 'sessions = "per-client"\nidle = "1s"\nmaxSessions = 1000')),
  ].join("\n");
}

type Rig = {
  readonly gateway: RunningGateway;
  readonly clients: Clients;
  readonly mark: string;
  /** Once the per-client servers sleep, which they do until they are needed. */
  filesAtRest: number;
};

async function start(): Promise<Rig> {
  const mark = randomUUID();
  const gateway = await startGateway({ config: describeServers(mark), env: INSPECTABLE });
  const servers = [...SHARED, ...PER_CLIENT];
  const clients = { origin: gateway.origin, servers, answered: 0 };
  const rig = { gateway, clients, mark, filesAtRest: Number.POSITIVE_INFINITY };
  await settle(rig);
  rig.filesAtRest = openFiles(gateway);
  return rig;
}

/** Every client has chance of its own, so that what one does never depends on how fast another is. */
const chanceOf = (client: number) => new Random(Number(process.env.CHURN_SEED ?? 4) * 1_000_003 + client);

/** Each of `AT_ONCE` lives begins when the one before it is over. */
async function churn(clients: Clients, count: number): Promise<void> {
  let begun = 0;
  const next = async () => {
    while (begun < count) {
      const random = chanceOf(begun++);
      await (random.below(2) === 0 ? live2025(clients, random) : live2026(clients, random));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

/** Waits until nothing runs any more and nothing is kept for anybody. */
async function settle({ gateway, mark, filesAtRest }: Rig): Promise<void> {
  let looksAtRest = 0;
  const countLooks = async () => {
    const isAtRest =
      (await metric(gateway, "isthmus_runs_open")) === 0 &&
      (await metric(gateway, "isthmus_runs_kept")) === 0 &&
      (await metric(gateway, "isthmus_sessions")) === 0 &&
      markedProcesses(mark).length === SHARED.length * PROCESSES_PER_SERVER &&
      // Whoever ends a process looks through /proc for what it left; that takes files too, for a moment.
      openFiles(gateway) <= filesAtRest + MAX_MORE_FILES;
    looksAtRest = isAtRest ? looksAtRest + 1 : 0;
    return looksAtRest;
  };
  await eventually(countLooks, (looks) => looks >= LOOKS_AT_REST, SETTLE_MS);
}

const openFiles = (gateway: RunningGateway): number => readdirSync(`/proc/${gateway.program.pid}/fd`).length;

async function look({ gateway, mark }: Rig) {
  return {
    runs: await metric(gateway, "isthmus_runs_open"),
    upstreams: await metric(gateway, "isthmus_upstream_sessions"),
    sessions: await metric(gateway, "isthmus_sessions"),
    kept: await metric(gateway, "isthmus_runs_kept"),
    processes: markedProcesses(mark).length,
    files: openFiles(gateway),
    heap: await heapBytes(gateway),
  };
}

test("1,000 clients that come and vanish leave nothing behind, and SIGTERM ends every process", {
  timeout: TEST_MS,
}, async () => {
  const rig = await start();
  const { gateway, clients, mark } = rig;
  await using _ = gateway;
  await churn(clients, WARM_UP);
  await settle(rig);
  const before = await look(rig);
  await churn(clients, CLIENTS);
  await settle(rig);
  const after = await look(rig);

  expect(clients.answered).toBeGreaterThan(CLIENTS / 5);
  expect({ ...after, files: undefined, heap: undefined }).toEqual({
    runs: 0,
    kept: 0,
    sessions: 0,
    upstreams: SHARED.length,
    processes: SHARED.length * PROCESSES_PER_SERVER,
  });
  expect(after.files - rig.filesAtRest).toBeLessThanOrEqual(MAX_MORE_FILES);
  expect(after.heap - before.heap).toBeLessThanOrEqual(MAX_MORE_HEAP);
  expect(defects(gateway).filter((line) => line.startsWith("{"))).toEqual([]);

  expect(await gateway.stop()).toBe(0);
  expect(markedProcesses(mark)).toEqual([]);
});

test("SIGKILL in the middle of it, with servers being started and calls under way, leaves no process", {
  timeout: TEST_MS,
}, async () => {
  const rig = await start();
  const { gateway, clients, mark } = rig;
  await using _ = gateway;
  await Promise.all(Array.from({ length: STAYING }, (_, index) => stay(clients, chanceOf(index))));
  // Whoever comes later finds nobody.
  const churning = churn(clients, CLIENTS).catch(() => undefined);
  await eventually(
    () => clients.answered,
    (answered) => answered >= STAYING,
    SETTLE_MS,
  );
  const isBusy = (count: number) => count > STAYING * PER_CLIENT.length * PROCESSES_PER_SERVER;
  expect(isBusy(await eventually(() => markedProcesses(mark).length, isBusy, SETTLE_MS))).toBe(true);
  await gateway.program.stop("SIGKILL");
  expect(
    await eventually(
      () => markedProcesses(mark),
      (left) => left.length === 0,
      WATCHDOG_MS,
    ),
  ).toEqual([]);
  await churning;
});
