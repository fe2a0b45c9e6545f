/** The waist put together: providers below, fronts above, and nothing here that knows a protocol. */
import {
  type Access,
  ByteBudget,
  type Call,
  type Catalog,
  type Clock,
  type Entry,
  GatewayError,
  type Host,
  LISTED_KINDS,
  type Log,
  type MappedUris,
  type Meter,
  type Payload,
  type Provider,
  type ProviderStatus,
  type Run,
  type Runs,
  type SessionRef,
  type Sessions,
  type Slices,
  type Stage,
  type Target,
  type Timers,
  type View,
} from "../contract/index.ts";
import { LiveCatalog, type Offered } from "./catalog/catalog.ts";
import { ChangeFeed } from "./catalog/change-feed.ts";
import type { Arrangement } from "./catalog/layouts.ts";
import { Mount, type MountOptions } from "./catalog/mount.ts";
import { createDispatch } from "./dispatch.ts";
import { MountTable } from "./mount-table.ts";
import { Pipelines } from "./pipelines.ts";
import type { JournalLimits } from "./runs/journal.ts";
import type { LiveRun } from "./runs/run.ts";
import { LiveRuns } from "./runs/runs.ts";
import type { DurableTasks } from "./runs/task-table.ts";
import { type OfferScreen, screenAgain, screenOffers } from "./screening.ts";

/** Decides per primitive whether a stage belongs in its pipeline. */
export type StageFactory = (entry: Entry) => Stage | undefined;

export type KernelOptions = {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
  readonly sessions: Sessions;
  readonly slices: Slices;
  /** Of the messages that the process holds; unset: it has no end. */
  readonly budget?: ByteBudget;
  /** In the order in which they see a call. */
  readonly stages: readonly StageFactory[];
  /** Puts mapped URIs into whatever of a list entry leads to them. */
  readonly mapLinks?: (definition: Payload, uris: MappedUris) => Payload;
  /** Who may see what; unset: everybody everything. */
  readonly access?: Access;
  /** Why a call that was let in may not be sent any more; unset: it always may. */
  readonly refusal?: (call: Call) => GatewayError | undefined;
  /** Looks at what providers offer before anybody sees it. */
  readonly screen?: OfferScreen;
  /** A provider is `ok` now, or is not any more. */
  readonly onReached?: (provider: string, status: ProviderStatus) => void;
  readonly journal?: JournalLimits;
  readonly keepMs?: number;
  /** Where tasks of providers outlive this process; unset: they do not. */
  readonly durable?: DurableTasks;
  /** How long a question in a call may wait for its answer. */
  readonly inputMs?: number;
  readonly patienceMs?: number;
};

/** A provider's place. `provider`: a new one; unset: the one of this id goes on, with its sessions and calls. */
export type Place = { readonly id: string; readonly provider?: Provider; readonly options: MountOptions };

export type Rearranged = {
  /** Resolves when each new provider has offered or failed once. */
  readonly opened: Promise<void>;
  /** Resolves when what was taken out is closed. */
  readonly closed: Promise<void>;
};

export interface Kernel {
  readonly catalog: Catalog;
  readonly runs: Runs;
  mount(provider: Provider, options: MountOptions): void;
  /** How names look and which catalogs there are from now on. Until it is said: dotted, and none but the providers'. */
  arrange(arrangement: Arrangement): void;
  /**
   * These places and no others from now on, in this order, as one step: no call sees half of it. A place without a
   * provider keeps the one it has. Others are taken out: calls on them may end within `drainMs`, then they are closed.
   */
  rearrange(places: readonly Place[], drainMs: number): Rearranged;
  /** Whatever decides which stages a primitive needs has changed: pipelines are made anew with the next call. */
  compileAgain(): void;
  /** Callers may reach something else than before: pipelines are made anew, and whoever sees another list now is told. */
  reachChanged(): void;
  /** What was screened once is judged anew: the screen has learned something. */
  screenAgain(): void;
  /** What there is in a catalog, whoever may see it: for operators, never for callers. */
  whole(catalog: string): View;
  /** Every primitive that is offered to everybody. */
  offered(): readonly Entry[];
  /** What a provider says now of something that it offers, to this session or to everybody. */
  find(target: Target, session?: SessionRef): Offered | undefined;
  /** Opens every provider side by side. Resolves when each has offered or failed once. */
  open(signal: AbortSignal): Promise<void>;
  /** Cancels what runs, then closes the providers in reverse order. Safe to call twice. */
  close(): Promise<void>;
  /** The calls that have not ended. */
  openRuns(): readonly Run[];
  ready(): { isReady: boolean; servers: Record<string, ProviderStatus> };
  stats(): { open: number; kept: number; keptBytes: number; tasks: number; upstreams: number };
}

const DEFAULT_TIMEOUT_MS = 300_000;
const DEFAULT_INPUT_MS = 600_000;

export function createKernel(options: KernelOptions): Kernel {
  const { clock, timers, log, meter, sessions, budget = new ByteBudget(Number.POSITIVE_INFINITY) } = options;
  const mounts = new MountTable();
  const runs: LiveRuns = new LiveRuns({
    clock,
    timers,
    log,
    meter,
    budget,
    timeoutMs: (provider) => mounts.find(provider)?.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    reply: (provider, callId, reply) => mounts.reply(provider, callId, reply),
    ...(options.journal && { journal: options.journal }),
    ...(options.keepMs !== undefined && { keepMs: options.keepMs }),
    ...(options.durable && { durable: options.durable }),
  });
  const dispatch = createDispatch({
    isFull: () => budget.isFull,
    refusal: options.refusal ?? (() => undefined),
    clock,
    timers,
    inputMs: options.inputMs ?? DEFAULT_INPUT_MS,
    find: (provider) => mounts.find(provider),
    onTask: (call, end) => runs.recordTask(call, end),
    onTaskOver: (task) => runs.taskOver(task),
    onLate: (call) => runs.late(call),
  });
  const dispatchOnce = dispatch(false);
  const dispatchTwice = dispatch(true);
  const pipelines = new Pipelines(clock);
  const compiler = {
    generation: 0,
    compile(entry: Entry) {
      const stages = options.stages.map((make) => make(entry)).filter((stage) => stage !== undefined);
      return pipelines.of(stages, entry.primitive.repeatable ? dispatchTwice : dispatchOnce);
    },
  };
  const changes = new ChangeFeed(timers, sessions);
  const catalog = new LiveCatalog({
    clock,
    timers,
    onChange: (change) => changes.add(change),
    onNameTaken: (taken) => log.warn("name in a catalog is taken", taken),
    onHeld: (kind, name) => log.warn("call to what is held back", { kind, name }),
    ...(options.mapLinks && { mapLinks: options.mapLinks }),
    ...(options.access && { access: options.access }),
    compiler,
    ...(options.patienceMs !== undefined && { patienceMs: options.patienceMs }),
  });

  const hostOf = (mount: Mount): Host => ({
    offer: (scope, offers, effort) => {
      const screening = { catalog, mount, scope, offers };
      return mount.inTurn(() => options.slices.run(screenOffers(options.screen, screening), effort));
    },
    notice: (notice) => sessions.notice(notice),
    // Its session with the client may be older than what the client may reach now.
    ask: (session, ask, signal) =>
      catalog.reaches(mount, session)
        ? sessions.ask(session, ask, signal)
        : Promise.reject(
            new GatewayError("NOT_ALLOWED", { message: "The client has nothing to do with this server." }),
          ),
    state: (state) => {
      if (mount.isLeaving) return;
      if (state.status !== mount.facts.status || state.message !== mount.facts.message) {
        const write = state.status === "ok" ? log.info : log.warn;
        write.call(log, "provider state", { provider: mount.provider.id, status: state.status, reason: state.message });
      }
      if ((state.status === "ok") !== (mount.facts.status === "ok"))
        options.onReached?.(mount.provider.id, state.status);
      if (state.status === "ok") mount.breaker.hurry();
      else if (mount.facts.status === "ok") options.screen?.lost(mount.provider.id);
      catalog.state(mount, state);
    },
  });

  function createMount(provider: Provider, mountOptions: MountOptions): Mount {
    const mount = new Mount(provider, mountOptions);
    mount.breaker.events = {
      onOpen: (fact) => {
        meter.count("isthmus_breaker_opens_total", provider.id);
        log.warn("calls are kept away from a provider that does not answer", { provider: provider.id, ...fact });
      },
      onClose: () => log.info("provider answers again", { provider: provider.id }),
    };
    return mount;
  }

  async function openMount(mount: Mount): Promise<void> {
    try {
      await mount.provider.open(hostOf(mount), mount.life.signal);
    } catch (thrown) {
      if (mount.isLeaving) return;
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

  async function closeMount({ provider }: Mount): Promise<void> {
    await provider.close().catch((cause) => log.warn("provider did not close", { provider: provider.id, cause }));
  }

  /** Lets the calls end that run on it now, for a while. */
  async function retire(mount: Mount, drainMs: number): Promise<void> {
    const open = runs.openOf(mount.provider.id);
    await ended(open, { clock, timers, withinMs: drainMs });
    for (const run of open) run.breakOff("its server was taken out of the config");
    await closeMount(mount);
    mounts.leaving.delete(mount);
  }

  let closing: Promise<void> | undefined;
  return {
    catalog,
    runs,
    mount(provider, mountOptions) {
      const mount = createMount(provider, mountOptions);
      mounts.add(mount);
      catalog.add(mount);
    },
    arrange: (arrangement) => catalog.arrange(arrangement),
    compileAgain() {
      compiler.generation++;
    },
    whole: (id) => catalog.whole(id),
    offered: () =>
      LISTED_KINDS.flatMap((kind) => catalog.whole("").layout.entries(kind)).filter((entry) => entry !== undefined),
    find: (target, session) => catalog.offered(target, session),
    reachChanged() {
      compiler.generation++;
      catalog.reachChanged();
    },
    screenAgain() {
      for (const mount of mounts.all)
        void mount.inTurn(() => options.slices.run(screenAgain(options.screen, catalog, mount)));
    },
    async open(signal) {
      const abort = () => {
        for (const mount of [...mounts.all, ...mounts.leaving]) mount.life.abort();
      };
      signal.addEventListener("abort", abort, { once: true });
      await Promise.all(mounts.all.map((mount) => openMount(mount)));
    },
    rearrange(places, drainMs) {
      const fresh: Mount[] = [];
      const next = places.map(({ id, provider, options: mountOptions }) => {
        const known = mounts.find(id);
        if (!provider && known) {
          known.adjust(mountOptions);
          return known;
        }
        if (!provider) throw new Error(`there is no provider "${id}" to keep`);
        const mount = createMount(provider, mountOptions);
        if (known) mount.inherit(known);
        fresh.push(mount);
        return mount;
      });
      const gone = mounts.replace(next);
      catalog.replace(next);
      return {
        opened: Promise.all(fresh.map((mount) => openMount(mount))).then(() => undefined),
        closed: Promise.all(gone.map((mount) => retire(mount, drainMs))).then(() => undefined),
      };
    },
    close() {
      closing ??= (async () => {
        runs.close();
        changes.close();
        for (const mount of [...mounts.leaving, ...mounts.all.toReversed()]) await closeMount(mount);
      })();
      return closing;
    },
    ready: () => ({
      isReady: mounts.all.every((mount) => mount.isSettled),
      servers: Object.fromEntries(mounts.all.map((mount) => [mount.provider.id, mount.facts.status])),
    }),
    openRuns: () => runs.openAll(),
    stats: () => ({
      ...runs.stats(),
      upstreams: [...mounts.all, ...mounts.leaving].reduce((sum, { provider }) => sum + provider.upstreamCount(), 0),
    }),
  };
}

const POLL_MS = 50;

/** Resolves when each of these has ended, or when the time is over. */
function ended(
  open: readonly LiveRun[],
  { clock, timers, withinMs }: { clock: Clock; timers: Timers; withinMs: number },
): Promise<void> {
  const deadline = clock.now() + withinMs;
  return new Promise((resolve) => {
    const look = () => {
      if (clock.now() >= deadline || open.every((run) => run.isEnded)) resolve();
      else timers.after(POLL_MS, look);
    };
    look();
  });
}
