/** What ships: every provider and every stage, as lists one can read. A new one is a line here. */
import type { Clock, Log, Meter, Provider, Spans, Timers } from "../contract/index.ts";
import type { StageFactory } from "../kernel/index.ts";
import { mcpProvider, type Watchdog } from "../providers/mcp/index.ts";
import { type RecentCalls, telemetryStage, traceStage, uriStage } from "../stages/index.ts";
import type { Environment, ServerConfig } from "./config/index.ts";
import type { Secret } from "./config/secret.ts";

export type Ports = { readonly clock: Clock; readonly timers: Timers; readonly log: Log; readonly meter: Meter };

/** What a provider may need beside its own table. */
export type ProviderPorts = Ports & {
  readonly parentEnv: Environment;
  readonly watchdog: Watchdog;
  readonly version: string;
};

type ProviderFactory = (server: ServerConfig, ports: ProviderPorts) => Provider;

const mcp: ProviderFactory = (server, ports) =>
  mcpProvider({ ...server, env: revealAll(server.env), headers: revealAll(server.headers) }, ports);

/** By the `transport` of a server's table. */
export const PROVIDERS = {
  stdio: mcp,
  http: mcp,
  sse: mcp,
} as const satisfies Record<ServerConfig["transport"], ProviderFactory>;

/** What the stages of every call need. */
export type StagePorts = Ports & {
  readonly recent: RecentCalls;
  /** Where spans go; unset: nobody asked for traces. */
  readonly spans?: Spans | undefined;
};

/** In the order in which they see a call; ARCHITECTURE.md draws it with the failure exit of each. */
export function listStages({ clock, log, meter, recent, spans }: StagePorts): readonly StageFactory[] {
  const trace = traceStage({ clock, log, meter, recent });
  const telemetry = spans && telemetryStage({ spans, now: () => performance.timeOrigin + performance.now() });
  return [() => trace, () => telemetry, ({ uris }) => uris && uriStage(uris)];
}

export function revealAll(secrets: Readonly<Record<string, Secret>>): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]));
}
