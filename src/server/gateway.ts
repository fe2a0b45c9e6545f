/** The composition root: every part of one gateway, put together by hand. Nothing is opened before it is asked for. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log, ProviderStatus } from "../contract/index.ts";
import { createGate, createMcpFront, type McpFrontConfig, type StdioOptions } from "../fronts/mcp/index.ts";
import { createKernel } from "../kernel/index.ts";
import { KeptTasks } from "../mechanisms/runs/index.ts";
import { createSessions } from "../mechanisms/sessions/index.ts";
import { createSeal } from "../mechanisms/vault/index.ts";
import { createWatchdog } from "../providers/mcp/index.ts";
import { systemClock } from "./clock.ts";
import type { Config, Environment, GatewayConfig, ListenAddress } from "./config/index.ts";
import { listStages, type Ports, PROVIDERS } from "./extensions.ts";
import { HttpServer } from "./http-server.ts";
import { Metrics } from "./metrics.ts";
import { TimerWheel } from "./timers.ts";
import { VERSION } from "./version.ts";

export type ServerSummary = {
  readonly id: string;
  readonly status: ProviderStatus;
  readonly tools: number;
  /** Why it is not ok; may hold a server's own words. */
  readonly message?: string;
};

export interface Gateway {
  readonly config: Config;
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

export function createGateway(config: Config, { log, env }: { log: Log; env: Environment }): Gateway {
  const metrics = new Metrics();
  const timers = new TimerWheel({ clock: systemClock, onError: (cause) => log.error("timer failed", { cause }) });
  const ports: Ports = { clock: systemClock, timers, log, meter: metrics };
  const { inputTimeoutMs, sessionIdleMs, resumeWindowMs } = config.gateway;
  const sessions = createSessions({ ...ports, idleMs: sessionIdleMs });
  const stages = listStages(ports);
  const kernel = createKernel({ ...ports, sessions, stages, keepMs: resumeWindowMs, inputMs: inputTimeoutMs });
  const watchdog = createWatchdog();
  for (const server of config.servers) {
    const provider = PROVIDERS[server.transport](server, { ...ports, parentEnv: env, watchdog, version: VERSION });
    const { segment, concurrency, timeoutMs } = server;
    kernel.mount(provider, { segment, concurrency, timeoutMs });
  }
  const tasks = new KeptTasks(ports);
  const front = createMcpFront({
    ...ports,
    sessions,
    tasks,
    catalog: kernel.catalog,
    runs: kernel.runs,
    keys: createSeal(sealOptions(config.gateway)),
    config: frontConfig(config.gateway),
  });
  const life = new AbortController();
  let opening: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  let isSettled = false;

  const http = new HttpServer({
    log,
    timers,
    meter: metrics,
    gate: createGate(frontConfig(config.gateway)),
    routes: {
      front: front.handle,
      hasSse: config.gateway.sse,
      readiness: describeReadiness,
      metrics: () => metrics.render(),
    },
  });

  metrics.gauge("isthmus_runs_open", () => kernel.stats().open);
  metrics.gauge("isthmus_runs_kept", () => kernel.stats().kept);
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
    opening ??= Promise.race([kernel.open(life.signal), sleep(SETTLE_MS, undefined, { ref: false })]).then(() => {
      isSettled = true;
    });
    return opening;
  }

  async function drain(): Promise<void> {
    const deadline = systemClock.now() + config.gateway.drainMs;
    while (kernel.stats().open > front.waiting && systemClock.now() < deadline) await sleep(DRAIN_POLL_MS);
  }

  async function closeAll(): Promise<void> {
    // Still accepting: whoever balances load must hear from /readyz that it should go elsewhere.
    await drain();
    http.stopAccepting();
    // Calls that are still open end here with an error, which reaches their clients before the connections close.
    await kernel.close();
    life.abort();
    front.close();
    tasks.close();
    sessions.close();
    await http.close();
    watchdog.close();
    timers.close();
  }

  return {
    config,
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
      })),
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}

/** Without a key of the operator's, what was sealed opens only until this process ends. */
function sealOptions({ sealKey }: GatewayConfig): { master?: Uint8Array } {
  return sealKey === undefined ? {} : { master: Buffer.from(sealKey.reveal(), "utf8") };
}

function frontConfig({
  sessions,
  allowedHosts,
  allowedOrigins,
  pageSize,
  maxBodyBytes,
  inputTimeoutMs,
  listen,
}: GatewayConfig): McpFrontConfig {
  return {
    sessions,
    // Whoever reaches the address we listen on may name it, however it is spelled.
    allowedHosts: [...allowedHosts, listen.host],
    allowedOrigins,
    maxBody: maxBodyBytes,
    inputMs: inputTimeoutMs,
    serverInfo: { name: "isthmus", version: VERSION },
    ...(pageSize !== undefined && { pageSize }),
  };
}
