import { describe, expect, test } from "vitest";
import { addGauges } from "./gauges.ts";
import { Metrics } from "./metrics.ts";

describe("Metrics", () => {
  test("counts each label apart", () => {
    const metrics = new Metrics();
    metrics.count("isthmus_config_reloads_total", "ok");
    metrics.count("isthmus_config_reloads_total", "ok");
    metrics.count("isthmus_config_reloads_total", "refused", 3);
    expect(metrics.render()).toContain(
      [
        "# HELP isthmus_config_reloads_total Attempts to take over a changed config (ok or refused).",
        "# TYPE isthmus_config_reloads_total counter",
        'isthmus_config_reloads_total{outcome="ok"} 2',
        'isthmus_config_reloads_total{outcome="refused"} 3',
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
    expect(metrics.render()).toContain('isthmus_events_late_total{server="a\\"b\\\\c\\nd"} 1\n');
  });

  test("tells of each server whether it is up, and nothing of one that is gone", () => {
    const metrics = new Metrics();
    metrics.serverGauge("isthmus_server_up", () => ({ files: 1, mail: 0 }));
    metrics.count("isthmus_upstream_starts_total", "files");
    metrics.count("isthmus_upstream_starts_total", "gone");
    // A server may be called like the reason of something else.
    metrics.count("isthmus_refused_total", "accept");
    metrics.forget("accept");
    metrics.calls.of({ provider: "gone", kind: "tool", name: "t" }).finished("ok", 1);
    metrics.forget("gone");
    const text = metrics.render();
    expect(text).toContain('isthmus_server_up{server="files"} 1\nisthmus_server_up{server="mail"} 0\n');
    expect(text).toContain('isthmus_upstream_starts_total{server="files"} 1\n');
    expect(text).toContain('isthmus_refused_total{reason="accept"} 1\n');
    expect(text).not.toContain("gone");
  });

  test("takes a server for up only while its state is ok", () => {
    const metrics = new Metrics();
    const servers = { files: "ok", mail: "failed" } as const;
    addGauges(metrics, {
      budget: { held: 0 },
      kernel: { stats: () => ({ open: 0, kept: 0, upstreams: 0 }), ready: () => ({ servers }) } as never,
      ...{ state: undefined, sessions: { size: 0 }, pins: { pendingCount: 0 } },
      ...{ isStale: () => false, members: () => 1 },
    });
    expect(metrics.render()).toContain('isthmus_server_up{server="files"} 1\nisthmus_server_up{server="mail"} 0\n');
  });

  test("tells what the process uses, under the names that everybody knows", async () => {
    const text = await new Metrics().renderAll();
    for (const name of [
      "process_cpu_seconds_total",
      "process_resident_memory_bytes",
      "process_start_time_seconds",
      ...(process.platform === "linux" ? ["process_open_fds"] : []),
    ]) {
      expect(text).toMatch(new RegExp(`^${name} \\S+`, "m"));
    }
    // Nothing was measured yet.
    expect(text).toContain("# TYPE nodejs_eventloop_lag_p99_seconds gauge\n");
    const gauges = [...text.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name]) => name);
    expect(gauges.filter((name) => name?.endsWith("_total"))).toEqual([]);
    for (const [, value] of text.matchAll(/^[^#\n].* (\S+)$/gm)) expect(value).toMatch(/^([+-]?Inf|[-+.\de]+)$/);
  });
});
