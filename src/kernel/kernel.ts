/** The waist put together: providers below, fronts above, and nothing here that knows a protocol. */
import {
  type Catalog,
  type Clock,
  type Entry,
  GatewayError,
  type Host,
  type Log,
  type Meter,
  type Provider,
  type ProviderStatus,
  type Runs,
  type Sessions,
  type Stage,
  type Timers,
} from "../contract/index.ts";
import { LiveCatalog } from "./catalog/catalog.ts";
import { ChangeFeed } from "./catalog/change-feed.ts";
import { Mount, type MountOptions } from "./catalog/mount.ts";
import { compose } from "./compose.ts";
import { createDispatch } from "./dispatch.ts";
import type { JournalLimits } from "./runs/journal.ts";
import { LiveRuns } from "./runs/runs.ts";

/** Decides per primitive whether a stage belongs in its pipeline. */
export type StageFactory = (entry: Entry) => Stage | undefined;

export type KernelOptions = {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
  readonly sessions: Sessions;
  /** In the order in which they see a call. */
  readonly stages: readonly StageFactory[];
  readonly journal?: JournalLimits;
  readonly keepMs?: number;
  /** How long a question in a call may wait for its answer. */
  readonly inputMs?: number;
  readonly patienceMs?: number;
};

export interface Kernel {
  readonly catalog: Catalog;
  readonly runs: Runs;
  mount(provider: Provider, options: MountOptions): void;
  /** Opens every provider side by side. Resolves when each has offered or failed once. */
  open(signal: AbortSignal): Promise<void>;
  /** Cancels what runs, then closes the providers in reverse order. Safe to call twice. */
  close(): Promise<void>;
  ready(): { isReady: boolean; servers: Record<string, ProviderStatus> };
  stats(): { open: number; kept: number; keptBytes: number; tasks: number; upstreams: number };
}

const DEFAULT_TIMEOUT_MS = 300_000;
const DEFAULT_INPUT_MS = 600_000;

export function createKernel(options: KernelOptions): Kernel {
  const { clock, timers, log, meter, sessions } = options;
  const mounts: Mount[] = [];
  const byId = new Map<string, Mount>();
  const runs: LiveRuns = new LiveRuns({
    clock,
    timers,
    log,
    meter,
    timeoutMs: (provider) => byId.get(provider)?.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    reply: (provider, callId, reply) => byId.get(provider)?.provider.reply(callId, reply),
    ...(options.journal && { journal: options.journal }),
    ...(options.keepMs !== undefined && { keepMs: options.keepMs }),
  });
  const dispatch = createDispatch({
    clock,
    timers,
    inputMs: options.inputMs ?? DEFAULT_INPUT_MS,
    find: (provider) => byId.get(provider),
    onTask: (call, ttlMs) => runs.recordTask(call, ttlMs),
    onLate: (call) => runs.late(call),
  });
  const changes = new ChangeFeed(timers, sessions);
  const catalog = new LiveCatalog({
    clock,
    timers,
    onChange: (change) => changes.add(change),
    compile: (entry) => {
      const stages = options.stages.map((make) => make(entry)).filter((stage) => stage !== undefined);
      return compose(stages, dispatch(entry.primitive.repeatable));
    },
    ...(options.patienceMs !== undefined && { patienceMs: options.patienceMs }),
  });

  const hostOf = (mount: Mount): Host => ({
    offer: (scope, offers) => catalog.offer(mount, scope, offers),
    notice: (notice) => sessions.notice(notice),
    ask: (session, ask, signal) => sessions.ask(session, ask, signal),
    state: (state) => {
      if (state.status !== mount.facts.status || state.message !== mount.facts.message) {
        const write = state.status === "ok" ? log.info : log.warn;
        write.call(log, "provider state", { provider: mount.provider.id, status: state.status, reason: state.message });
      }
      catalog.state(mount, state);
    },
  });

  async function openMount(mount: Mount, signal: AbortSignal): Promise<void> {
    try {
      await mount.provider.open(hostOf(mount), signal);
    } catch (thrown) {
      const error = GatewayError.from(thrown);
      log.warn("provider did not open", {
        provider: mount.provider.id,
        code: error.code,
        cause: error.cause ?? error.message,
      });
      catalog.state(mount, { status: "unreachable", message: error.message });
    } finally {
      mount.settle();
    }
  }

  let closing: Promise<void> | undefined;
  return {
    catalog,
    runs,
    mount(provider, mountOptions) {
      const mount = new Mount(provider, mountOptions);
      mounts.push(mount);
      byId.set(provider.id, mount);
      catalog.add(mount);
    },
    async open(signal) {
      await Promise.all(mounts.map((mount) => openMount(mount, signal)));
    },
    close() {
      closing ??= (async () => {
        runs.close();
        changes.close();
        for (const mount of [...mounts].reverse()) {
          await mount.provider
            .close()
            .catch((cause) => log.warn("provider did not close", { provider: mount.provider.id, cause }));
        }
      })();
      return closing;
    },
    ready: () => ({
      isReady: mounts.every((mount) => mount.isSettled),
      servers: Object.fromEntries(mounts.map((mount) => [mount.provider.id, mount.facts.status])),
    }),
    stats: () => ({
      ...runs.stats(),
      upstreams: mounts.reduce((sum, { provider }) => sum + provider.upstreamCount(), 0),
    }),
  };
}
