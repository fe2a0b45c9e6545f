/**
 * Decides whether a run is good: no failure, and the same outcome of every check as in the direct run. A warning is an
 * outcome too; INFO lines are a log of the exchange and are left out.
 */
import type { Check, Report } from "./suite.ts";
import type { Exception } from "./table.ts";

export type Verdict = {
  readonly passed: number;
  /** Failed checks, and checks that only came out worse than in the direct run. */
  readonly failed: number;
  /** Each makes the run bad. */
  readonly problems: readonly string[];
  /** Failures that are the suite's own; not in `failed`. */
  readonly suiteErrors: readonly Exception[];
  /** Outcomes that are not as in the direct run, and need not be. */
  readonly differences: readonly Exception[];
};

export type Expectation = {
  /** Scenarios in which no difference excuses a failure. */
  readonly scored: ReadonlySet<string>;
  /** Scenarios that must have run. */
  readonly scenarios: readonly string[];
  /** Undefined for a direct run. */
  readonly direct: Report | undefined;
  /** Checks of which the direct run tells nothing. */
  readonly directSuiteErrors?: readonly Exception[];
  readonly suiteErrors: readonly Exception[];
  /** Checks that may differ from `direct`. */
  readonly differences?: readonly Exception[] | undefined;
};

export function judge(report: Report, expected: Expectation): Verdict {
  const { scored, scenarios, direct, directSuiteErrors = [], suiteErrors, differences = [] } = expected;
  const problems: string[] = [];
  const seen = new Set<Exception>();

  function isListed(list: readonly Exception[], scenario: string, check: string): boolean {
    const entry = list.find((one) => one.scenario === scenario && one.check === check);
    if (entry !== undefined) seen.add(entry);
    return entry !== undefined;
  }

  let passed = 0;
  let failed = 0;
  for (const scenario of new Set([...scenarios, ...report.keys()])) {
    const checks = report.get(scenario) ?? [];
    if (!checks.some(isOutcome)) problems.push(`${scenario}: did not run`);
    for (const { id, status, errorMessage = "no message" } of checks) {
      if (status === "SUCCESS") passed += 1;
      if (status !== "FAILURE" || isListed(suiteErrors, scenario, id)) continue;
      if (!scored.has(scenario) && isListed(differences, scenario, id)) continue;
      failed += 1;
      problems.push(`${scenario}: ${id} failed: ${errorMessage}`);
    }
    if (direct === undefined) continue;
    for (const [id, here, there] of differing(checks, direct.get(scenario) ?? [])) {
      // A failure was told above.
      if (here.includes("FAILURE") || isListed(directSuiteErrors, scenario, id)) continue;
      if (isListed(differences, scenario, id)) continue;
      failed += 1;
      problems.push(`${scenario}: ${id} is ${here}, directly ${there}`);
    }
  }
  for (const entry of [...suiteErrors, ...differences]) {
    if (seen.has(entry)) continue;
    problems.push(`${entry.scenario}: ${entry.check} is listed as an exception but needs none`);
  }
  const used = (list: readonly Exception[]) => list.filter((entry) => seen.has(entry));
  return {
    passed,
    failed,
    problems,
    suiteErrors: used(suiteErrors),
    differences: used(differences),
  };
}

function isOutcome(check: Check): boolean {
  return check.status !== "INFO";
}

/**
 * Ids whose outcomes differ, with both. How often an id occurs does not matter: a gateway may open a session of its own
 * beside the client's, and is then checked twice.
 */
function differing(here: readonly Check[], there: readonly Check[]): [id: string, here: string, there: string][] {
  const ids = new Set([...here, ...there].filter(isOutcome).map(({ id }) => id));
  return [...ids]
    .map((id): [string, string, string] => [id, outcomes(here, id), outcomes(there, id)])
    .filter(([, one, other]) => one !== other);
}

function outcomes(checks: readonly Check[], id: string): string {
  const found = checks.filter((check) => check.id === id && isOutcome(check)).map(({ status }) => status);
  return found.length === 0 ? "absent" : [...new Set(found)].sort().join(", ");
}
