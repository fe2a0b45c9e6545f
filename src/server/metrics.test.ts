import { describe, expect, test } from "vitest";
import { Metrics } from "./metrics.ts";

describe("Metrics", () => {
  test("counts each label apart", () => {
    const metrics = new Metrics();
    metrics.count("isthmus_calls_total", "ok");
    metrics.count("isthmus_calls_total", "ok");
    metrics.count("isthmus_calls_total", "fault", 3);
    expect(metrics.render()).toContain(
      [
        "# HELP isthmus_calls_total Finished calls by outcome (ok, fault, or an error code).",
        "# TYPE isthmus_calls_total counter",
        'isthmus_calls_total{code="ok"} 2',
        'isthmus_calls_total{code="fault"} 3',
        "",
      ].join("\n"),
    );
  });

  test("names a counter that never counted", () => {
    expect(new Metrics().render()).toContain("# TYPE isthmus_refused_total counter\n");
  });

  test("reads a gauge when it is asked, and leaves out one that nobody feeds", () => {
    const metrics = new Metrics();
    let open = 1;
    metrics.gauge("isthmus_runs_open", () => open);
    open = 7;
    expect(metrics.render()).toContain("# TYPE isthmus_runs_open gauge\nisthmus_runs_open 7\n");
    expect(metrics.render()).not.toContain("isthmus_sessions");
  });

  test("escapes a label, so that it cannot start a line", () => {
    const metrics = new Metrics();
    metrics.count("isthmus_events_late_total", 'a"b\\c\nd');
    expect(metrics.render()).toContain('isthmus_events_late_total{provider="a\\"b\\\\c\\nd"} 1\n');
  });
});
