/** What ships: every provider and every stage, as lists one can read. A new one is a line here. */
import type { Clock, Log, Meter, Provider, Spans, Timers, UpstreamMemory } from "../contract/index.ts";
import type { StageFactory } from "../kernel/index.ts";
import { mcpProvider, type Watchdog } from "../providers/mcp/index.ts";
import {
  type LedgerOptions,
  ledgerStage,
  type RecentCalls,
  telemetryStage,
  traceStage,
  uriStage,
} from "../stages/index.ts";
import type { Environment, ServerConfig } from "./config/index.ts";
import type { Secret } from "./config/secret.ts";
import { type HomedMcpOptions, type HomedProvider, homedMcpProvider } from "./hop-provider/index.ts";

export type Ports = { readonly clock: Clock; readonly timers: Timers; readonly log: Log; readonly meter: Meter };

/** What a provider may need beside its own table. */
export type ProviderPorts = Ports & {
  readonly parentEnv: Environment;
  readonly watchdog: Watchdog;
  readonly version: string;
  /** Where upstream sessions of clients outlive this process; unset: they end with it. */
  readonly memory?: UpstreamMemory | undefined;
  /** Where child processes live that all processes share; unset: there are no others. */
  readonly homed?: HomedMcpOptions | undefined;
};

type ProviderFactory = (server: ServerConfig, ports: ProviderPorts) => Provider | HomedProvider;

const mcp: ProviderFactory = (server, ports) => mcpProvider(revealed(server), ports);

const child: ProviderFactory = (server, { homed, ...ports }) =>
  homed ? homedMcpProvider(revealed(server), ports, homed) : mcpProvider(revealed(server), ports);

function revealed(server: ServerConfig) {
  return { ...server, env: revealAll(server.env), headers: revealAll(server.headers) };
}

/** By the `transport` of a server's table. */
export const PROVIDERS = {
  stdio: child,
  http: mcp,
  sse: mcp,
} as const satisfies Record<ServerConfig["transport"], ProviderFactory>;

/** What the stages of every call need. */
export type StagePorts = Ports & {
  readonly recent: RecentCalls;
  /** Where spans go; unset: nobody asked for traces. */
  readonly spans?: Spans | undefined;
  /** Where calls are on record; unset: nowhere. */
  readonly ledger?: LedgerOptions | undefined;
};

/** In the order in which they see a call; ARCHITECTURE.md draws it with the failure exit of each. */
export function listStages({ clock, log, meter, recent, spans, ledger }: StagePorts): readonly StageFactory[] {
  const trace = traceStage({ clock, log, meter, recent });
  const telemetry = spans && telemetryStage({ spans, now: () => performance.timeOrigin + performance.now() });
  const record = ledger && ledgerStage(ledger);
  return [() => trace, () => telemetry, () => record, ({ uris }) => uris && uriStage(uris)];
}

export function revealAll(secrets: Readonly<Record<string, Secret>>): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]));
}
