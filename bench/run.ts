/**
 * Measures Isthmus beside a plain proxy and its peers, all in one run:
 * `node bench/run.ts [--only call,list,start,memory,flat,aggregate,eras,state,governed,starve,before] [--before FILE] [--quick] [--candidates a,b]`. See README.md for the method.
 */
import { CANDIDATES } from "./candidates/index.ts";
import { LoadProcess } from "./load/load-process.ts";
import { Report } from "./measure/table.ts";
import { readOptions, type Scenario } from "./options.ts";
import { prepareMachine, selectCandidates } from "./prepare.ts";
import { endProcessesWithRunner, pinSelf, stopAll } from "./processes.ts";
import { benchAggregate } from "./scenarios/aggregate.ts";
import { benchBefore } from "./scenarios/before.ts";
import { benchCalls } from "./scenarios/call.ts";
import { benchEras } from "./scenarios/eras.ts";
import type { Bench } from "./scenarios/field.ts";
import { benchFlatness } from "./scenarios/flat.ts";
import { benchGoverned } from "./scenarios/governed.ts";
import { benchLists } from "./scenarios/list.ts";
import { benchMemory } from "./scenarios/memory.ts";
import { benchStarts } from "./scenarios/start.ts";
import { benchStarving } from "./scenarios/starve.ts";
import { benchState } from "./scenarios/state.ts";

const RUN: Record<Scenario, (bench: Bench) => Promise<void>> = {
  call: benchCalls,
  list: benchLists,
  start: benchStarts,
  memory: benchMemory,
  flat: benchFlatness,
  aggregate: benchAggregate,
  eras: benchEras,
  state: benchState,
  governed: benchGoverned,
  starve: benchStarving,
  before: benchBefore,
};

async function main(): Promise<void> {
  const startedAt = performance.now();
  const options = readOptions(process.argv.slice(2));
  const report = new Report();
  prepareMachine();
  pinSelf();
  endProcessesWithRunner();
  const { candidates, notes } = selectCandidates(CANDIDATES, options);
  for (const note of notes) report.addNote(note);
  const bench: Bench = { load: LoadProcess.start(), options, candidates, report };
  for (const scenario of options.only) {
    try {
      await RUN[scenario](bench);
    } catch (error) {
      report.addNote(`${scenario} broke off: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
  report.printVerdicts();
  if (options.isQuick) process.stdout.write("quick: too few rounds and too short, not for publishing\n");
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stdout.write(`${seconds} s; saved as bench/${report.save({ ...options, seconds })}\n`);
  if (report.hasFailures()) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  await stopAll();
}
