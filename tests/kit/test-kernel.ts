import { type CallOrder, type Life, LOCAL, type Provider, payload } from "../../src/contract/index.ts";
import { createKernel, type Kernel, type KernelOptions } from "../../src/kernel/index.ts";
import { atOnce } from "./at-once.ts";
import { ManualTime } from "./manual-time.ts";
import { type Probe, probeStage } from "./probe-stage.ts";
import { KeptLog, KeptMeter, noSessions } from "./quiet.ts";

export type TestKernel = {
  readonly kernel: Kernel;
  readonly time: ManualTime;
  readonly log: KeptLog;
  readonly meter: KeptMeter;
  readonly probes: Map<string, Probe>;
  order(name: string, options?: { life?: Life; timeoutMs?: number }): CallOrder;
};

/** A kernel on manual time with the given providers, each under its own id as segment. */
export async function testKernel(
  providers: readonly Provider[],
  options: Partial<KernelOptions> & { concurrency?: number; timeoutMs?: number } = {},
): Promise<TestKernel> {
  const time = new ManualTime();
  const log = new KeptLog();
  const meter = new KeptMeter();
  const probes = new Map<string, Probe>();
  const kernel = createKernel({
    clock: time,
    timers: time,
    log,
    meter,
    sessions: noSessions,
    slices: atOnce,
    stages: [() => probeStage(probes)],
    ...options,
  });
  for (const provider of providers) {
    kernel.mount(provider, {
      segment: provider.id,
      concurrency: options.concurrency ?? 16,
      timeoutMs: options.timeoutMs ?? 60_000,
    });
  }
  await kernel.open(new AbortController().signal);
  return { kernel, time, log, meter, probes, order: (name, extra) => orderFor(kernel, name, extra) };
}

function orderFor(kernel: Kernel, name: string, options: { life?: Life; timeoutMs?: number } = {}): CallOrder {
  const entry = kernel.catalog.view("", LOCAL).resolve("tool", name);
  if (!entry) throw new Error(`no tool ${name}`);
  return {
    entry,
    verb: "call",
    method: "tools/call",
    input: payload(`{"name":"${entry.target.name}"}`),
    principal: { id: "local" },
    origin: { front: "test", protocol: "none", requestId: "1" },
    life: options.life ?? "resumable",
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
  };
}

/** Lets promises that are already settled run their continuations. */
export async function flush(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await Promise.resolve();
}
