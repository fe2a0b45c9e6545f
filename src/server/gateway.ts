/** The composition root: every part of one gateway, put together by hand. Nothing is opened before it is asked for. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log, ProviderStatus } from "../contract/index.ts";
import { createGate, createMcpFront, type McpFrontConfig, type StdioOptions } from "../fronts/mcp/index.ts";
import { type Arrangement, createKernel, type Place } from "../kernel/index.ts";
import { KeptTasks } from "../mechanisms/runs/index.ts";
import { createSessions } from "../mechanisms/sessions/index.ts";
import { createSeal } from "../mechanisms/vault/index.ts";
import { createWatchdog } from "../providers/mcp/index.ts";
import { mapLinks, RecentCalls } from "../stages/index.ts";
import { systemClock } from "./clock.ts";
import {
  type Config,
  type ConfigDifference,
  type ConfigSource,
  compareConfigs,
  type Environment,
  type GatewayConfig,
  type ListenAddress,
  type ServerConfig,
} from "./config/index.ts";
import { listStages, type Ports, PROVIDERS, revealAll } from "./extensions.ts";
import { ConfigFollower } from "./follow-config.ts";
import { HttpServer } from "./http-server.ts";
import { LivePins } from "./live-pins.ts";
import { Metrics } from "./metrics.ts";
import { OtlpExporter } from "./telemetry/otlp-exporter.ts";
import { TimerWheel } from "./timers.ts";
import { VERSION } from "./version.ts";

export type ServerSummary = {
  readonly id: string;
  readonly status: ProviderStatus;
  readonly tools: number;
  /** Why it is not ok; may hold a server's own words. */
  readonly message?: string;
  /** What its config says about it in MGP's words; known before it is reached. */
  readonly mgp?: ServerConfig["mgp"];
};

/** What another config changed. `settled` resolves when each new server has listed or failed once, at the latest after 5 s. */
export type ConfigChange = ConfigDifference & { readonly settled: Promise<void> };

export interface Gateway {
  /** What is in force. */
  readonly config: Config;
  /** Watches where the config comes from, and takes it over when it changes, until the gateway closes. */
  follow(source: ConfigSource, onTaken?: (change: ConfigChange) => void): ConfigFollower;
  /**
   * Takes over another config in one step. Servers whose table is the same go on untouched; the others are replaced, and
   * calls on them may end for `drain`. Settings that cannot change must have been refused before.
   */
  apply(next: Config): ConfigChange;
  hasCatalog(id: string): boolean;
  /** Starts the servers and listens. Resolves with the address as soon as it answers; servers come up behind it. */
  listen(): Promise<ListenAddress>;
  /** Starts the servers and serves one client. Resolves when `input` ends. */
  serveStdio(client: StdioOptions): Promise<void>;
  /** Resolves when each server has listed or failed once, at the latest 5 s after the start. */
  settled(): Promise<void>;
  servers(): ServerSummary[];
  /** Takes no more connections, lets open calls end for `drain`, then closes everything. Safe to call twice. */
  close(): Promise<void>;
}

const SETTLE_MS = 5_000;
const DRAIN_POLL_MS = 20;
/** How many of the last calls are told at once. */
const SHOWN_CALLS = 100;

export function createGateway(initial: Config, { log, env }: { log: Log; env: Environment }): Gateway {
  let config = initial;
  const metrics = new Metrics();
  const timers = new TimerWheel({ clock: systemClock, onError: (cause) => log.error("timer failed", { cause }) });
  const ports: Ports = { clock: systemClock, timers, log, meter: metrics };
  const { inputTimeoutMs, sessionIdleMs, resumeWindowMs } = config.gateway;
  const sessions = createSessions({ ...ports, idleMs: sessionIdleMs });
  const recent = new RecentCalls(Date.now() - systemClock.now());
  const spans = createExporter(config, ports);
  const livePins = new LivePins({ ...ports, config: () => config, onChange: () => kernel.screenAgain() });
  const { pins } = livePins;
  const stages = listStages({ ...ports, recent, spans });
  const times = { keepMs: resumeWindowMs, inputMs: inputTimeoutMs };
  const kernel = createKernel({ ...ports, ...times, sessions, stages, mapLinks, screen: pins });
  kernel.arrange(arrangementOf(config));
  const watchdog = createWatchdog();
  const create = (server: ServerConfig) =>
    PROVIDERS[server.transport](server, { ...ports, parentEnv: env, watchdog, version: VERSION });
  for (const server of config.servers) kernel.mount(create(server), mountOptions(server));
  // The fronts read it with every request: another config is put into the same object.
  const liveConfig = frontConfig(config.gateway);
  const tasks = new KeptTasks(ports);
  const front = createMcpFront({
    ...ports,
    sessions,
    tasks,
    catalog: kernel.catalog,
    runs: kernel.runs,
    keys: createSeal(sealOptions(config.gateway)),
    config: liveConfig,
  });
  const life = new AbortController();
  let opening: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  let isSettled = false;
  let follower: ConfigFollower | undefined;

  const http = new HttpServer({
    log,
    timers,
    meter: metrics,
    gate: createGate(liveConfig),
    routes: {
      front: front.handle,
      hasSse: config.gateway.sse,
      readiness: describeReadiness,
      metrics: () => metrics.render(),
      calls: () => recent.list(SHOWN_CALLS),
      call: (id) => recent.find(id),
    },
  });

  metrics.gauge("isthmus_runs_open", () => kernel.stats().open);
  metrics.gauge("isthmus_runs_kept", () => kernel.stats().kept);
  metrics.gauge("isthmus_config_stale", () => (follower?.isStale ? 1 : 0));
  metrics.gauge("isthmus_pins_pending", () => pins.pendingCount);
  metrics.gauge("isthmus_sessions", () => sessions.size);
  metrics.gauge("isthmus_upstream_sessions", () => kernel.stats().upstreams);
  metrics.gauge(
    "isthmus_providers_ok",
    () => Object.values(kernel.ready().servers).filter((status) => status === "ok").length,
  );

  function describeReadiness() {
    const { isReady, servers } = kernel.ready();
    const status = closing !== undefined ? "draining" : isReady || isSettled ? "ready" : "starting";
    return { isReady: status === "ready", body: { status, servers } };
  }

  function openServers(): Promise<void> {
    if (!opening) livePins.open();
    opening ??= Promise.race([kernel.open(life.signal), sleep(SETTLE_MS, undefined, { ref: false })]).then(() => {
      isSettled = true;
    });
    return opening;
  }

  function apply(next: Config): ConfigChange {
    const difference = compareConfigs(config, next);
    const replaced = new Set([...difference.added, ...difference.changed]);
    // Whatever a provider does not like about its table is thrown here, before anything has changed.
    const places = next.servers.map(
      (server): Place => ({
        id: server.id,
        options: mountOptions(server),
        ...(replaced.has(server.id) && { provider: create(server) }),
      }),
    );
    const { opened, closed } = kernel.rearrange(places, next.gateway.drainMs);
    kernel.arrange(arrangementOf(next));
    config = next;
    livePins.open();
    kernel.screenAgain();
    Object.assign(liveConfig, frontConfig(next.gateway));
    void opened.then(() => front.subscribeAgain(new Set(difference.changed)));
    void closed.then(() => sessions.endIn((catalog) => !kernel.catalog.has(catalog), "its catalog is gone"));
    return { ...difference, settled: Promise.race([opened, sleep(SETTLE_MS, undefined, { ref: false })]) };
  }

  async function drain(): Promise<void> {
    const deadline = systemClock.now() + config.gateway.drainMs;
    while (kernel.stats().open > front.waiting && systemClock.now() < deadline) await sleep(DRAIN_POLL_MS);
  }

  async function closeAll(): Promise<void> {
    follower?.close();
    // Still accepting: whoever balances load must hear from /readyz that it should go elsewhere.
    await drain();
    http.stopAccepting();
    // Calls that are still open end here with an error, which reaches their clients before the connections close.
    await kernel.close();
    await livePins.close();
    life.abort();
    front.close();
    tasks.close();
    sessions.close();
    await http.close();
    await spans?.close();
    watchdog.close();
    timers.close();
  }

  const gateway: Gateway = {
    get config() {
      return config;
    },
    apply,
    follow(source, onTaken) {
      follower?.close();
      follower = new ConfigFollower({ gateway, source, log, meter: metrics, timers, ...(onTaken && { onTaken }) });
      return follower;
    },
    hasCatalog: (id) => kernel.catalog.has(id),
    async listen() {
      const address = await http.listen(config.gateway.listen);
      void openServers();
      return address;
    },
    async serveStdio(client) {
      void openServers();
      await front.stdio(client).closed;
    },
    settled: openServers,
    servers: () =>
      kernel.catalog.view("").providers.map(({ id, status, message }) => ({
        id,
        status,
        tools: kernel.catalog.view(id).list("tool").count,
        ...(message !== undefined && { message }),
        ...mgpOf(config, id),
      })),
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
  return gateway;
}

/** Undefined: nobody asked for traces. */
function createExporter({ telemetry }: Config, ports: Ports): OtlpExporter | undefined {
  const { endpoint, headers } = telemetry;
  if (endpoint === undefined) return undefined;
  return new OtlpExporter({ ...ports, endpoint, headers: revealAll(headers), version: VERSION });
}

function arrangementOf({ gateway: { naming }, catalogs }: Config): Arrangement {
  return { naming, catalogs };
}

function mountOptions({ segment, concurrency, timeoutMs, breaker }: ServerConfig) {
  return { segment, concurrency, timeoutMs, breaker };
}

function mgpOf({ servers }: Config, id: string): Pick<ServerSummary, "mgp"> {
  const mgp = servers.find((server) => server.id === id)?.mgp;
  return mgp === undefined ? {} : { mgp };
}

/** Without a key of the operator's, what was sealed opens only until this process ends. */
function sealOptions({ sealKey }: GatewayConfig): { master?: Uint8Array } {
  return sealKey === undefined ? {} : { master: Buffer.from(sealKey.reveal(), "utf8") };
}

type LiveFrontConfig = { -readonly [Key in keyof McpFrontConfig]: McpFrontConfig[Key] };

function frontConfig(gateway: GatewayConfig): LiveFrontConfig {
  const { sessions, allowedHosts, allowedOrigins, pageSize, maxBodyBytes, inputTimeoutMs, listen } = gateway;
  return {
    sessions,
    // Whoever reaches the address we listen on may name it, however it is spelled.
    allowedHosts: [...allowedHosts, listen.host],
    allowedOrigins,
    maxBody: maxBodyBytes,
    inputMs: inputTimeoutMs,
    serverInfo: { name: "isthmus", version: VERSION },
    pageSize,
  };
}
