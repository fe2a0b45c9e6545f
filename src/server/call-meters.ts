/**
 * How many calls each server and tool has had, how they ended, and how long they took. A call costs one look at a table that
 * is kept by the object of its target: nothing is put together, or looked up, by name when a call ends.
 */
import { CALL_METRICS, type Target } from "../contract/index.ts";
import { CALL_BOUNDS_MS, Histogram } from "./histogram.ts";
import { labelText } from "./label-text.ts";

/** Tools of one server that have numbers of their own: a server may offer any number, and new ones every second. */
const MAX_TOOLS = 50;
const MAX_NAME = 128;
const OTHER = "other";

export class CallMeter {
  readonly labels: string;
  readonly times = new Histogram(CALL_BOUNDS_MS);
  #ok = 0;
  readonly #others = new Map<string, number>();

  constructor(labels: string) {
    this.labels = labels;
  }

  finished(code: string, ms: number): void {
    if (code === "ok") this.#ok++;
    else this.#others.set(code, (this.#others.get(code) ?? 0) + 1);
    this.times.observe(ms);
  }

  get counts(): readonly (readonly [code: string, count: number])[] {
    return this.#ok > 0 ? [["ok", this.#ok], ...this.#others] : [...this.#others];
  }
}

export class CallMeters {
  readonly #byTarget = new WeakMap<Target, CallMeter>();
  readonly #byServer = new Map<string, Map<string, CallMeter>>();

  of(target: Target): CallMeter {
    return this.#byTarget.get(target) ?? this.#find(target);
  }

  /** The server is not there any more. What still runs on it counts for nobody. */
  forget(server: string): void {
    this.#byServer.delete(server);
  }

  lines(): readonly string[] {
    const meters = [...this.#byServer.values()].flatMap((byName) => [...byName.values()]);
    const { isthmus_calls_total: calls, isthmus_call_duration_seconds: times } = CALL_METRICS;
    return [
      `# HELP isthmus_calls_total ${calls.help}`,
      "# TYPE isthmus_calls_total counter",
      ...meters.flatMap(({ labels, counts }) =>
        counts.map(([code, count]) => `isthmus_calls_total{${labels},${labelText("code", code)}} ${count}`),
      ),
      `# HELP isthmus_call_duration_seconds ${times.help}`,
      "# TYPE isthmus_call_duration_seconds histogram",
      ...meters.flatMap(({ labels, times: own }) => own.lines("isthmus_call_duration_seconds", labels)),
    ];
  }

  #find(target: Target): CallMeter {
    const { provider, kind } = target;
    const byName = this.#byServer.get(provider) ?? new Map<string, CallMeter>();
    this.#byServer.set(provider, byName);
    const tool = this.#toolOf(target, byName);
    const key = `${kind} ${tool}`;
    const labels = [labelText("server", provider), labelText("kind", kind), labelText("tool", tool)].join(",");
    const meter = byName.get(key) ?? new CallMeter(labels);
    byName.set(key, meter);
    this.#byTarget.set(target, meter);
    return meter;
  }

  /** Of everything but tools the name may be the caller's own: a URI that fits a template, a method that nobody knows. */
  #toolOf({ kind, name }: Target, byName: ReadonlyMap<string, CallMeter>): string {
    if (kind !== "tool") return "";
    if (byName.has(`tool ${name}`)) return name;
    const known = [...byName.keys()].filter((key) => key.startsWith("tool ")).length;
    return known < MAX_TOOLS && name.length <= MAX_NAME ? name : OTHER;
  }
}
