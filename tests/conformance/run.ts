/**
 * Runs the official conformance suite against our fixtures, directly and through the built gateway, and its client
 * scenarios against the gateway's upstream leg.
 *
 *   --direct       leaves the gateway out
 *   --only TEXT    runs whose title contains TEXT, and the direct runs that they are compared with
 *   --except TEXT  not those whose title contains TEXT
 */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { judge, type Verdict } from "./judge.ts";
import { planRuns, type Run } from "./plan.ts";
import { root } from "./processes.ts";
import { type Report, readRequirements } from "./suite.ts";
import { type Exception, type Revision, revisions } from "./table.ts";

/** A check that the suite itself gets wrong, and the runs in which it does. */
type SuiteError = Exception & { readonly revision: string; readonly runs: readonly string[] };

const { values: flags } = parseArgs({
  options: {
    direct: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    except: { type: "string" },
  },
});
if (!flags.direct && !existsSync(join(root, "dist/isthmus.js"))) throw new Error("dist is missing: npm run build");

const suiteErrors: SuiteError[] = JSON.parse(await readFile(new URL("suite-errors.json", import.meta.url), "utf8"));
const reports = await mkdtemp(join(tmpdir(), "isthmus-conformance-"));
const timings: string[] = [];
const MOST_TIMES = 3;
let isGood = true;
for (const revision of revisions) await runRevision(revision);
process.stdout.write(`${timings.join(", ")}\n`);
if (isGood) {
  await rm(reports, { recursive: true });
} else {
  process.stdout.write(`full reports: ${reports}\n`);
  process.exitCode = 1;
}

async function runRevision(revision: Revision): Promise<void> {
  const requirements = await readRequirements(revision.revision, reports);
  const done = new Map<string, Report>();
  const measure = async (run: Run): Promise<Verdict> => {
    try {
      const report = await run.execute(await mkdtemp(join(reports, `${titleOf(run, revision).replaceAll(" ", "-")}-`)));
      done.set(run.name, report);
      const direct = run.like === undefined ? undefined : (done.get(run.like) ?? new Map());
      const directSuiteErrors = suiteErrorsOf(run.like, revision);
      const { scored } = requirements;
      return judge(report, {
        ...run,
        scored,
        direct,
        directSuiteErrors,
        suiteErrors: suiteErrorsOf(run.name, revision),
      });
    } catch (error) {
      return { passed: 0, failed: 1, suiteErrors: [], differences: [], problems: [String(error)] };
    }
  };
  for (const run of select(planRuns(revision, requirements), revision)) {
    const title = titleOf(run, revision);
    const start = performance.now();
    let verdict = await measure(run);
    const before: string[] = [];
    // The suite waits so long for an answer and no longer (0.6 s while a server starts), whatever else the machine does: bad is
    // what it finds bad each time.
    for (let time = 1; time < MOST_TIMES && verdict.problems.length > 0; time++) {
      before.push(...verdict.problems);
      verdict = await measure(run);
    }
    print(title, verdict, before);
    timings.push(`${title} ${((performance.now() - start) / 1000).toFixed(1)} s`);
  }
}

function suiteErrorsOf(run: string | undefined, { revision }: Revision): SuiteError[] {
  return suiteErrors.filter((one) => one.revision === revision && run !== undefined && one.runs.includes(run));
}

function titleOf({ name }: Run, { revision }: Revision): string {
  return `${revision} ${name}`;
}

/** The runs that the flags ask for. */
function select(runs: readonly Run[], revision: Revision): Run[] {
  const wanted = runs
    .filter(({ leg }) => leg === "direct" || !flags.direct)
    .filter((run) => titleOf(run, revision).includes(flags.only))
    .filter((run) => flags.except === undefined || !titleOf(run, revision).includes(flags.except));
  const measures = new Set(wanted.map(({ like }) => like));
  return runs.filter((run) => wanted.includes(run) || measures.has(run.name));
}

function print(title: string, verdict: Verdict, problemsAtFirst: readonly string[] = []): void {
  const lines = [
    `${title}: ${verdict.passed} passed, ${verdict.failed} failed`,
    ...verdict.suiteErrors.map(
      ({ scenario, check, reason }) => `  error of the suite: ${scenario}: ${check}: ${reason}`,
    ),
    ...verdict.differences.map(({ scenario, check, reason }) => `  not as directly: ${scenario}: ${check}: ${reason}`),
    ...problemsAtFirst.map((problem) => `  at first: ${problem}`),
    ...verdict.problems.map((problem) => `  BAD ${problem}`),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  if (verdict.problems.length > 0) isGood = false;
}
