/** The composition root: every part of one gateway, put together by hand. Nothing is opened before it is asked for. */
import { setTimeout as sleep } from "node:timers/promises";
import { HOME_HEADER, type HttpRequest, type HttpResponse, type Log, PEER } from "../contract/index.ts";
import { createApprovalsFront } from "../fronts/approvals/index.ts";
import { createConsentFront } from "../fronts/consent/index.ts";
import { createGate, createMcpFront } from "../fronts/mcp/index.ts";
import { createKernel, type Place } from "../kernel/index.ts";
import { KeptTasks } from "../mechanisms/runs/index.ts";
import { createSessions, createUpstreamMemory } from "../mechanisms/sessions/index.ts";
import { createSeal } from "../mechanisms/vault/index.ts";
import { createWatchdog } from "../providers/mcp/index.ts";
import { mapLinks, RecentCalls } from "../stages/index.ts";
import { asksForPages } from "../wire/mcp/index.ts";
import { systemClock } from "./clock.ts";
import { type Config, type ConfigSource, compareConfigs, type Environment, type ServerConfig } from "./config/index.ts";
import { drain, HAND_OVER_MS } from "./drain.ts";
import { listStages, type Ports, PROVIDERS } from "./extensions.ts";
import { ConfigFollower } from "./follow-config.ts";
import {
  arrangementOf,
  createExporter,
  frontConfig,
  homedOptions,
  mgpOf,
  mountOptions,
  offeredOfMgp,
  sealOptions,
  storesOf,
  tlsTerms,
} from "./gateway-options.ts";
import type { ConfigChange, Gateway } from "./gateway-types.ts";
import { addGauges } from "./gauges.ts";
import { createGovernance, lostTask, runAlone } from "./governance/index.ts";
import type { HomedProvider } from "./hop-provider/index.ts";
import { EdgeLimiter, TrustedProxies } from "./http/index.ts";
import { HttpServer } from "./http-server.ts";
import { LivePins } from "./live-pins.ts";
import { Metrics } from "./metrics.ts";
import { OnDemand } from "./on-demand.ts";
import { StageTimes } from "./stage-times.ts";
import { createCluster, type GatewayState } from "./state/index.ts";
import { TimerWheel } from "./timers.ts";
import { VERSION } from "./version.ts";

const SETTLE_MS = 5_000;

export type GatewayOptions = {
  readonly log: Log;
  readonly env: Environment;
  /** What outlives the process; unset: nothing. It is closed with the gateway. */
  readonly state?: GatewayState | undefined;
};

export function createGateway(initial: Config, { log, env, state }: GatewayOptions): Gateway {
  let config = initial;
  const metrics = new Metrics();
  const timers = new TimerWheel({ clock: systemClock, onError: (cause) => log.error("timer failed", { cause }) });
  const ports: Ports = { clock: systemClock, timers, log, meter: metrics };
  const { inputTimeoutMs, sessionIdleMs, sessionAgeMs, resumeWindowMs } = config.gateway;
  const cluster = state && createCluster({ ...ports, state, config: config.state.cluster, onRequest: takeOver });
  const kept = state && cluster && { ...state, member: cluster.member };
  const isAlone = state?.clusterKey === undefined;
  const shared = kept && { state: kept.shared, member: kept.member, isAlone };
  const sessions = createSessions({
    ...ports,
    idleMs: sessionIdleMs,
    maxAgeMs: sessionAgeMs,
    ...(shared && { shared }),
  });
  const recent = new RecentCalls(Date.now() - systemClock.now());
  const spans = createExporter(config, ports);
  const livePins = new LivePins({ ...ports, config: () => config, onChange: () => kernel.screenAgain() });
  const { pins } = livePins;
  const ledger = shared && { ...ports, ...shared, isShared: !isAlone, isQuestion: asksForPages };
  const governance = createGovernance({
    ...ports,
    config,
    state,
    onChange: () => kernel.compileAgain(),
    onReach: () => kernel.reachChanged(),
    live: {
      sessions,
      recent,
      runs: () => kernel.openRuns(),
      servers: () => gateway.servers(),
      offered: () => kernel.offered(),
      config: () => config,
      following: () => followed,
      member: () => cluster?.member() ?? "",
      channel: isAlone ? undefined : state?.shared.channel,
      dropStreams(isMeant) {
        admin.present?.drop(isMeant);
        front.drop(isMeant);
        http.drop(isMeant);
      },
    },
  });
  const limited = ledger && { ...ledger, limits: governance.limits.ledger };
  const stages = listStages({
    ...ports,
    recent,
    stageTimes: new StageTimes(metrics),
    spans,
    ledger: limited,
    governance,
  });
  const times = { keepMs: resumeWindowMs, inputMs: inputTimeoutMs };
  const durable = kept && { records: kept.records, member: kept.member };
  const kernel = createKernel({
    ...ports,
    ...times,
    sessions,
    stages,
    mapLinks,
    screen: {
      screen: (provider, profile, offers) =>
        governance.approvals.flag(offers, (written) => pins.screen(provider, profile, written)),
      lost: (provider) => pins.lost(provider),
    },
    onReached: (id, status) => governance.serverChanged(id, status === "ok", status),
    ...(governance.access && { access: governance.access }),
    ...(durable && { durable }),
  });
  kernel.arrange(arrangementOf(config));
  const watchdog = createWatchdog();
  const memory = shared && createUpstreamMemory({ entries: shared.state.entries, member: shared.member });
  const providerPorts = { ...ports, parentEnv: env, watchdog, version: VERSION, memory, homed: homedOptions(cluster) };
  /** Servers whose one child process may be here or elsewhere. */
  const homed = new Map<string, HomedProvider>();
  const create = (server: ServerConfig) => {
    const credentials = governance.vault.credentialsFor(server);
    const provider = PROVIDERS[server.transport](server, { ...providerPorts, credentials });
    if ("isHome" in provider) homed.set(server.id, provider);
    return provider;
  };
  for (const server of config.servers) kernel.mount(create(server), mountOptions(server));
  // The fronts read it with every request: another config is put into the same object.
  const liveConfig = frontConfig(config);
  let proxies = new TrustedProxies(config.gateway.trustedProxies);
  const onLost = governance.callLost;
  const tasks = new KeptTasks({
    ...ports,
    ...(kept && { store: { ...kept, members: kept.shared.members, onLost: (task) => onLost(lostTask(task)) } }),
  });
  const { authenticator } = governance;
  const front = createMcpFront({
    ...ports,
    sessions,
    tasks,
    catalog: kernel.catalog,
    runs: kernel.runs,
    confirmations: governance.approvals.confirmations,
    refused: governance.refused,
    mgp: { offered: () => offeredOfMgp(config), operations: () => governance.operations(), trail: governance.kept },
    onLost,
    ...(authenticator && { stepUp: (request, error) => authenticator.stepUp(request, error) }),
    keys: createSeal(sealOptions(config.gateway, state?.clusterKey)),
    config: liveConfig,
    ...(cluster &&
      shared && { cluster: { ...shared, leaseMs: cluster.leaseMs, ...(cluster.hop && { hop: cluster.hop }) } }),
  });
  const life = new AbortController();
  let opening: Promise<void> | undefined;
  let operating: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  let isSettled = false;
  let follower: ConfigFollower | undefined;
  let followed: { source: ConfigSource; reload(): Promise<void> } | undefined;
  const gate = createGate(liveConfig);
  const admin = new OnDemand(async () => {
    const { createAdminFront } = await import("../fronts/admin/index.ts");
    const operations = await governance.operations();
    return createAdminFront({
      ...ports,
      operations,
      version: VERSION,
      maxBody: () => config.gateway.maxBodyBytes,
      gate,
      refused: governance.refused,
    });
  });

  const http = new HttpServer({
    log,
    timers,
    meter: metrics,
    gate,
    refused: governance.refused,
    clientAddress: (peer, headers) => proxies.addressOf(peer, headers),
    ...(authenticator && { authenticator }),
    tls: tlsTerms(config.gateway),
    ...(config.gateway.edge && { edge: new EdgeLimiter(config.gateway.edge, systemClock) }),
    ...(cluster?.hop && { mayWrite: () => cluster.membership.mayWrite() }),
    routes: {
      front: front.handle,
      confirm: front.confirm,
      hasSse: config.gateway.sse,
      readiness: describeReadiness,
      metrics: () => metrics.render(),
      consent: createConsentFront({ desk: governance.vault.desk, log, gate, refused: governance.refused }),
      approvals: createApprovalsFront({ desk: governance.approvals.desk, log, gate, refused: governance.refused }),
      admin: () => admin.get(),
    },
  });

  cluster?.membership.onLost(() => {
    http.cutAll();
    cluster.hop?.cutAll();
    sessions.forgetAll();
  });

  /** What another process has handed over, or wants of a child process that it takes to be here. */
  function takeOver(request: HttpRequest, response: HttpResponse): void {
    const wanted = request.headers[HOME_HEADER];
    if (wanted !== undefined) request.principal = PEER;
    if (wanted === undefined || homed.get(wanted)?.isHome === true) return http.take(request, response);
    request.discard();
    response.answer(421, "", "");
  }

  addGauges(metrics, {
    kernel,
    state,
    sessions,
    pins,
    isStale: () => follower?.isStale === true,
    members: () => governance.limits.members(),
  });

  function describeReadiness() {
    const { isReady, servers } = kernel.ready();
    const status = closing !== undefined ? "draining" : isReady || isSettled ? "ready" : "starting";
    return { isReady: status === "ready", body: { status, servers, ...storesOf(state) } };
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
    governance.apply(next);
    const tls = tlsTerms(next.gateway);
    if (tls) http.renew(tls);
    kernel.screenAgain();
    Object.assign(liveConfig, frontConfig(next));
    proxies = new TrustedProxies(next.gateway.trustedProxies);
    void opened.then(() => front.subscribeAgain(new Set(difference.changed)));
    void closed.then(() => sessions.endIn((catalog) => !kernel.catalog.has(catalog), "its catalog is gone"));
    return { ...difference, settled: Promise.race([opened, sleep(SETTLE_MS, undefined, { ref: false })]) };
  }

  async function closeAll(): Promise<void> {
    follower?.close();
    governance.approvals.leave();
    await drain({ front, http, cluster, sessions, kernel, drainMs: config.gateway.drainMs });
    // Sessions that are kept go on in another process, or in the next one: servers must not be told that they end.
    await Promise.race([sessions.flush(), sleep(HAND_OVER_MS, undefined, { ref: false })]);
    sessions.forgetAll();
    // Calls that are still open end here with an error, which reaches their clients before the connections close.
    await kernel.close();
    await livePins.close();
    life.abort();
    front.close();
    admin.present?.close();
    tasks.close();
    sessions.close();
    await cluster?.close();
    await http.close();
    await governance.close();
    await spans?.close();
    watchdog.close();
    await state?.close();
    timers.close();
  }

  const gateway: Gateway = {
    get config() {
      return config;
    },
    apply,
    follow(source, onTaken) {
      follower?.close();
      const following = new ConfigFollower({
        gateway,
        source,
        log,
        meter: metrics,
        timers,
        ...(onTaken && { onTaken }),
      });
      follower = following;
      followed = { source, reload: () => following.reload() };
      governance.followed();
      return following;
    },
    hasCatalog: (id) => kernel.catalog.has(id),
    operations: () => governance.operations(),
    async listen() {
      await governance.open();
      const [address] = await Promise.all([http.listen(config.gateway.listen), cluster?.open()]);
      governance.vault.listensOn(address);
      governance.approvals.listensOn(address);
      void openServers();
      return address;
    },
    async operate(id, input) {
      operating ??= governance.open();
      await operating;
      return await runAlone(await governance.operations(), id, input);
    },
    async serveStdio(client) {
      await governance.open();
      void openServers();
      await front.stdio(client).closed;
    },
    settled: openServers,
    servers: () =>
      kernel.whole("").providers.map(({ id, status, message }) => ({
        id,
        status,
        tools: kernel.whole(id).list("tool").count,
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
