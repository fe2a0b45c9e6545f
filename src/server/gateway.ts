/** The composition root: every part of one gateway, put together by hand. Nothing is opened before it is asked for. */
import { setTimeout as sleep } from "node:timers/promises";
import { getHeapStatistics } from "node:v8";
import {
  ByteBudget,
  HOME_HEADER,
  type HttpRequest,
  type HttpResponse,
  LOCAL,
  type Log,
  PEER,
} from "../contract/index.ts";
import { createApprovalsFront, SignIn } from "../fronts/approvals/index.ts";
import { createConsentFront } from "../fronts/consent/index.ts";
import { createGate, createMcpFront } from "../fronts/mcp/index.ts";
import { createKernel, type Place } from "../kernel/index.ts";
import { requesterTag } from "../mechanisms/identity/index.ts";
import { KeptTasks } from "../mechanisms/runs/index.ts";
import { createSessions, createUpstreamMemory } from "../mechanisms/sessions/index.ts";
import { createSeal } from "../mechanisms/vault/index.ts";
import { createWatchdog, SocketBound } from "../providers/mcp/index.ts";
import { mapLinks, RecentCalls } from "../stages/index.ts";
import { asksForPages } from "../wire/mcp/index.ts";
import { systemClock } from "./clock.ts";
import {
  beginsToKeep,
  type Config,
  type ConfigSource,
  compareConfigs,
  type Environment,
  type ServerConfig,
} from "./config/index.ts";
import { createCors } from "./cors.ts";
import { drain, HAND_OVER_MS } from "./drain.ts";
import { listStages, type Ports, PROVIDERS, type ProviderPorts } from "./extensions.ts";
import { faultyProvider } from "./faulty-provider.ts";
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
import { type CalledAs, createGovernance, lostTask, runAlone } from "./governance/index.ts";
import { heapShare } from "./heap-share.ts";
import { createHome } from "./home.ts";
import type { HomedProvider } from "./hop-provider/index.ts";
import { EdgeLimiter, ownUpstreamBound, PORTS_OF_MEMBER, TrustedProxies } from "./http/index.ts";
import { HttpServer } from "./http-server.ts";
import { LastWords } from "./last-words.ts";
import { LivePins } from "./live-pins.ts";
import { Metrics } from "./metrics.ts";
import { budgetBytes } from "./no-room.ts";
import { OnDemand } from "./on-demand.ts";
import type { FileWarden } from "./private-files.ts";
import { RecentLines } from "./recent-lines.ts";
import { SlicedWork } from "./slices.ts";
import { StageTimes } from "./stage-times.ts";
import { createCluster, type GatewayState } from "./state/index.ts";
import { TimerWheel } from "./timers.ts";
import { VERSION } from "./version.ts";

const SETTLE_MS = 5_000;
/** Of the memory that there is at all. */
const KEPT_BY_SESSIONS = 1 / 8;
const KEPT_FOR_CLIENTS = 1 / 16;
const LISTED_FOR_CLIENTS = 1 / 8;

export type GatewayOptions = {
  readonly log: Log;
  readonly env: Environment;
  /** What outlives the process; unset: nothing. It is closed with the gateway. */
  readonly state?: GatewayState | undefined;
  /** Looks at the files of each further config. */
  readonly warden?: FileWarden | undefined;
  /** By which whoever runs the gateway is known; unset: by nothing. */
  readonly operatorToken?: string | undefined;
  /** How people call the program; unset: as one that is installed. */
  readonly calledAs?: CalledAs | undefined;
  /** What the log keeps for operators; unset: nothing. */
  readonly lines?: RecentLines | undefined;
};

export function createGateway(initial: Config, options: GatewayOptions): Gateway {
  const { log, env, state, warden, operatorToken, calledAs, lines = new RecentLines() } = options;
  let config = initial;
  const metrics = new Metrics();
  const budget = new ByteBudget(budgetBytes(getHeapStatistics().heap_size_limit));
  const timers = new TimerWheel({ clock: systemClock, onError: (cause) => log.error("timer failed", { cause }) });
  const ports: Ports = { clock: systemClock, timers, log, meter: metrics };
  const { inputTimeoutMs, sessionIdleMs, sessionAgeMs, resumeWindowMs } = config.gateway;
  const cluster =
    state && createCluster({ ...ports, budget, state, config: config.state.cluster, onRequest: takeOver });
  const kept = state && cluster && { ...state, member: cluster.member };
  const isAlone = state?.clusterKey === undefined;
  const shared = kept && { state: kept.shared, member: kept.member, isAlone };
  const slices = new SlicedWork(systemClock);
  const sessions = createSessions({
    ...ports,
    slices,
    idleMs: sessionIdleMs,
    maxAgeMs: sessionAgeMs,
    maxKeptBytes: heapShare(KEPT_BY_SESSIONS),
    maxOutboxBytes: heapShare(KEPT_FOR_CLIENTS),
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
    isTraced: spans !== undefined,
    operatorToken,
    calledAs,
    onChange: () => kernel.compileAgain(),
    onReach() {
      kernel.reachChanged();
      front.reachChanged();
    },
    live: {
      sessions,
      recent,
      runs: () => kernel.openRuns(),
      servers: () => gateway.servers(),
      offered: () => kernel.offered(),
      find: (target, session) => kernel.find(target, session),
      config: () => config,
      lines,
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
    budget,
    slices,
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
    refusal: governance.refusal,
    ...(durable && { durable }),
  });
  kernel.arrange(arrangementOf(config));
  const watchdog = createWatchdog();
  const memory = shared && createUpstreamMemory({ entries: shared.state.entries, member: shared.member });
  const lastWords = new LastWords();
  const { master } = sealOptions(config.gateway, state?.clusterKey);
  const providerPorts: ProviderPorts = {
    ...ports,
    slices,
    budget,
    ownLists: new ByteBudget(heapShare(LISTED_FOR_CLIENTS)),
    sockets: new SocketBound(ownUpstreamBound()),
    parentEnv: env,
    watchdog,
    version: VERSION,
    memory,
    requester: requesterTag(master),
    homed: homedOptions(cluster),
    hearProgram: (server) => lastWords.begin(server),
  };
  /** Servers whose one child process may be here or elsewhere. */
  const homed = new Map<string, HomedProvider>();
  const create = (server: ServerConfig) => {
    if (server.fault !== undefined) return faultyProvider(server.id, server.fault);
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
  const { authenticator, operator } = governance;
  const known = authenticator ?? operator;
  const keys = createSeal(master === undefined ? {} : { master });
  const front = createMcpFront({
    ...ports,
    slices,
    sessions,
    tasks,
    catalog: kernel.catalog,
    runs: kernel.runs,
    confirmations: governance.approvals.confirmations,
    refused: governance.refused,
    mgp: { offered: () => offeredOfMgp(config), operations: () => governance.operations(), trail: governance.kept },
    onLost,
    resultRead: governance.resultRead,
    returnRefusal: governance.returnRefusal,
    ...(authenticator && { stepUp: (request, error) => authenticator.stepUp(request, error) }),
    keys,
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
  let followed: { source: ConfigSource; reload(): Promise<void>; isStale(): boolean } | undefined;
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
    budget,
    gate,
    cors: createCors(liveConfig),
    refused: governance.refused,
    clientAddress: (peer, headers) => proxies.addressOf(peer, headers),
    ...(authenticator && { authenticator }),
    ...(operator && { operator }),
    tls: tlsTerms(config.gateway),
    ...(config.gateway.edge && { edge: new EdgeLimiter(config.gateway.edge, systemClock) }),
    ...(cluster?.hop && { ports: PORTS_OF_MEMBER, mayWrite: () => cluster.membership.mayWrite() }),
    routes: {
      front: front.handle,
      confirm: front.confirm,
      hasSse: config.gateway.sse,
      readiness: describeReadiness,
      metrics: () => metrics.renderAll(),
      home: createHome({
        version: VERSION,
        readiness: describeReadiness,
        origin: () => governance.approvals.desk.pages,
        waiting: () => governance.approvals.desk.waiting(LOCAL),
        hasSignIn: known !== undefined,
        log,
      }),
      consent: createConsentFront({ desk: governance.vault.desk, log, gate, refused: governance.refused }),
      approvals: createApprovalsFront({
        desk: governance.approvals.desk,
        tokenCommands: () => governance.approvals.tokenCommands(),
        log,
        gate,
        refused: governance.refused,
        ...(known && {
          signIn: new SignIn({
            keys,
            authenticate: async (request, token) =>
              operator?.ofToken(request, token) ?? (await known.signIn(request, token)),
            now: Date.now,
          }),
        }),
      }),
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
    budget,
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
    if (!beginsToKeep(initial, config) && beginsToKeep(initial, next))
      log.warn("grants, tokens and the audit trail are only in memory: restart the gateway to keep them");
    config = next;
    for (const id of difference.removed) lastWords.forget(id);
    for (const { id, kept: reason } of next.servers)
      if (reason !== undefined) log.warn("secrets cannot be read, the former ones stay", { provider: id, reason });
    livePins.open();
    governance.apply(next);
    const tls = tlsTerms(next.gateway);
    if (tls) http.renew(tls);
    kernel.screenAgain();
    Object.assign(liveConfig, frontConfig(next));
    proxies = new TrustedProxies(next.gateway.trustedProxies);
    void opened.then(() => front.subscribeAgain(new Set(difference.changed)));
    const forgetGone = () => {
      for (const id of difference.removed) if (!config.servers.some((server) => server.id === id)) metrics.forget(id);
    };
    forgetGone();
    void closed.then(forgetGone);
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
        inspect: (next) => warden?.check(next, source),
        ...(onTaken && { onTaken }),
      });
      follower = following;
      followed = { source, reload: () => following.reload(), isStale: () => following.isStale };
      governance.followed();
      return following;
    },
    hasCatalog: (id) => kernel.catalog.has(id),
    operations: () => governance.operations(),
    async listen() {
      await governance.open();
      const [address] = await Promise.all([http.listen(config.gateway.listen), cluster?.open()]);
      const { vault, approvals } = governance;
      for (const part of [vault, approvals, operator]) part?.listensOn(address);
      void openServers();
      return address;
    },
    async operate(id, input) {
      operating ??= governance.open();
      await operating;
      return await runAlone(await governance.operations(), id, input);
    },
    async serveStdio(client) {
      await governance.open({ isLocal: true });
      void openServers();
      await front.stdio(client).closed;
    },
    settled: openServers,
    servers: () => [
      ...kernel.whole("").providers.map(({ id, status, message }) => ({
        id,
        status,
        tools: kernel.whole(id).list("tool").count,
        ...(message !== undefined && { message }),
        ...(status !== "ok" && lastWords.of(id)),
        ...mgpOf(config, id),
      })),
      ...config.disabled.map((id) => ({ id, status: "disabled" as const, tools: 0 })),
    ],
    grantsNothing: () => governance.grantsNothing(),
    misnamed: () => governance.misnamed(),
    lacksTokens: async () => config.auth.tokens && (await state?.records.tokens.list(1))?.length === 0,
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
  return gateway;
}
