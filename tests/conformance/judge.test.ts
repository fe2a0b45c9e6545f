import { describe, expect, test } from "vitest";
import { type Expectation, judge } from "./judge.ts";
import type { Check, Report } from "./suite.ts";
import type { Exception } from "./table.ts";

/** Checks of one scenario, as `{ id: status }`. */
function reportOf(scenario: string, outcomes: Readonly<Record<string, string>>): Report {
  const checks = Object.entries(outcomes).map(([id, status]): Check => ({ id, status, errorMessage: "wrong" }));
  return new Map([[scenario, checks]]);
}

function exception(check: string, scenario = "ping"): Exception {
  return { scenario, check, reason: "because" };
}

function expecting(given: Partial<Expectation> = {}): Expectation {
  return { scored: new Set(["ping"]), scenarios: ["ping"], direct: undefined, suiteErrors: [], ...given };
}

describe("judge, of a direct run", () => {
  test("finds nothing wrong with successes, warnings and log lines", () => {
    const report = reportOf("ping", { answers: "SUCCESS", polite: "WARNING", exchange: "INFO" });
    expect(judge(report, expecting())).toEqual({
      passed: 1,
      failed: 0,
      problems: [],
      suiteErrors: [],
      differences: [],
    });
  });

  test("refuses a failure, with the check and its message", () => {
    const verdict = judge(reportOf("ping", { answers: "FAILURE" }), expecting());
    expect(verdict).toMatchObject({ passed: 0, failed: 1, problems: ["ping: answers failed: wrong"] });
  });

  test("refuses a failure in a scenario that is not scored", () => {
    const verdict = judge(reportOf("ping", { answers: "FAILURE" }), expecting({ scored: new Set() }));
    expect(verdict.problems).toEqual(["ping: answers failed: wrong"]);
  });

  test("refuses a scenario that did not run, or only left log lines", () => {
    expect(judge(new Map(), expecting()).problems).toEqual(["ping: did not run"]);
    expect(judge(reportOf("ping", { exchange: "INFO" }), expecting()).problems).toEqual(["ping: did not run"]);
  });

  test("judges a scenario that nobody expected", () => {
    const verdict = judge(reportOf("extra", { answers: "FAILURE" }), expecting({ scenarios: [] }));
    expect(verdict.problems).toEqual(["extra: answers failed: wrong"]);
  });

  test("sets an error of the suite apart", () => {
    const suiteErrors = [exception("answers")];
    const verdict = judge(reportOf("ping", { answers: "FAILURE" }), expecting({ suiteErrors }));
    expect(verdict).toMatchObject({ failed: 0, problems: [], suiteErrors });
  });

  test("refuses an error of the suite that is gone", () => {
    const verdict = judge(reportOf("ping", { answers: "SUCCESS" }), expecting({ suiteErrors: [exception("answers")] }));
    expect(verdict.problems).toEqual(["ping: answers is listed as an exception but needs none"]);
    expect(verdict.suiteErrors).toEqual([]);
  });

  test("does not excuse the same check of another scenario", () => {
    const suiteErrors = [exception("answers", "pong")];
    const verdict = judge(reportOf("ping", { answers: "FAILURE" }), expecting({ suiteErrors }));
    expect(verdict.problems).toContain("ping: answers failed: wrong");
  });
});

describe("judge, of a run through the gateway", () => {
  const direct = reportOf("ping", { answers: "SUCCESS", polite: "SUCCESS" });

  test("finds nothing wrong with the same outcomes, however often each occurs", () => {
    const twice = new Map([["ping", [...(direct.get("ping") ?? []), ...(direct.get("ping") ?? [])]]]);
    expect(judge(twice, expecting({ direct })).problems).toEqual([]);
  });

  test("refuses a warning where the direct run has none", () => {
    const verdict = judge(reportOf("ping", { answers: "SUCCESS", polite: "WARNING" }), expecting({ direct }));
    expect(verdict).toMatchObject({ failed: 1, problems: ["ping: polite is WARNING, directly SUCCESS"] });
  });

  test("refuses a check that is missing, and one that is new", () => {
    const verdict = judge(reportOf("ping", { answers: "SUCCESS", other: "SUCCESS" }), expecting({ direct }));
    expect(verdict.problems).toEqual([
      "ping: other is SUCCESS, directly absent",
      "ping: polite is absent, directly SUCCESS",
    ]);
  });

  test("tells of a failure once", () => {
    const verdict = judge(reportOf("ping", { answers: "SUCCESS", polite: "FAILURE" }), expecting({ direct }));
    expect(verdict).toMatchObject({ failed: 1, problems: ["ping: polite failed: wrong"] });
  });

  test("sets a listed difference apart, and refuses it once it is gone", () => {
    const differences = [exception("polite")];
    const differing = reportOf("ping", { answers: "SUCCESS", polite: "WARNING" });
    expect(judge(differing, expecting({ direct, differences }))).toMatchObject({
      failed: 0,
      problems: [],
      differences,
    });
    expect(judge(direct, expecting({ direct, differences })).problems).toEqual([
      "ping: polite is listed as an exception but needs none",
    ]);
  });

  test("takes a failure as a difference only where it is not scored", () => {
    const differences = [exception("polite")];
    const failing = reportOf("ping", { answers: "SUCCESS", polite: "FAILURE" });
    expect(judge(failing, expecting({ direct, differences })).problems).toContain("ping: polite failed: wrong");
    const unscored = judge(failing, expecting({ direct, differences, scored: new Set() }));
    expect(unscored).toMatchObject({ failed: 0, problems: [], differences });
  });

  test("may do better where the suite was wrong about the direct run", () => {
    const failedDirectly = reportOf("ping", { answers: "SUCCESS", polite: "FAILURE" });
    const given = { direct: failedDirectly, directSuiteErrors: [exception("polite")] };
    const better = reportOf("ping", { answers: "SUCCESS" });
    expect(judge(better, expecting(given)).problems).toEqual([]);
    expect(judge(better, expecting({ direct: failedDirectly })).problems).toEqual([
      "ping: polite is absent, directly FAILURE",
    ]);
  });
});
