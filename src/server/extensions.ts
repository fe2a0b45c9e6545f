/** What ships: every provider and every stage, as lists one can read. A new one is a line here. */
import type {
  ByteBudget,
  Clock,
  Log,
  Meter,
  Provider,
  Slices,
  Spans,
  Timers,
  UpstreamCredentials,
  UpstreamMemory,
} from "../contract/index.ts";
import type { StageFactory } from "../kernel/index.ts";
import type { RequesterTag } from "../mechanisms/identity/index.ts";
import { mcpProvider, type SocketBound, type Watchdog } from "../providers/mcp/index.ts";
import {
  type LedgerOptions,
  ledgerStages,
  type RecentCalls,
  telemetryStage,
  traceStage,
  uriStage,
} from "../stages/index.ts";
import type { Environment, ServerConfig } from "./config/index.ts";
import type { Secret } from "./config/secret.ts";
import { secretsOf } from "./given-secrets.ts";
import { type HomedMcpOptions, type HomedProvider, homedMcpProvider } from "./hop-provider/index.ts";
import type { StageTimes } from "./stage-times.ts";

export type Ports = { readonly clock: Clock; readonly timers: Timers; readonly log: Log; readonly meter: Meter };

/** What a provider may need beside its own table. */
export type ProviderPorts = Ports & {
  readonly slices: Slices;
  readonly budget: ByteBudget;
  /** Of what servers list for single clients. */
  readonly ownLists: ByteBudget;
  /** Of the sockets to servers of this process. */
  readonly sockets: SocketBound;
  readonly parentEnv: Environment;
  readonly watchdog: Watchdog;
  /** Hears what programs write to standard error. */
  readonly hearProgram: (server: string) => (line: string) => void;
  readonly version: string;
  readonly requester: RequesterTag;
  /** Where upstream sessions of clients outlive this process; unset: they end with it. */
  readonly memory?: UpstreamMemory | undefined;
  /** Whose tokens the server gets; unset: only what its headers say. */
  readonly credentials?: UpstreamCredentials | undefined;
  /** Where child processes live that all processes share; unset: there are no others. */
  readonly homed?: HomedMcpOptions | undefined;
};

type ProviderFactory = (server: ServerConfig, ports: ProviderPorts) => Provider | HomedProvider;

const mcp: ProviderFactory = (server, ports) => mcpProvider(revealed(server), ports);

const child: ProviderFactory = (server, { homed, ...ports }) =>
  homed ? homedMcpProvider(revealed(server), ports, homed) : mcpProvider(revealed(server), ports);

function revealed(server: ServerConfig) {
  return {
    ...server,
    env: revealAll(server.env),
    headers: revealAll(server.headers),
    secrets: secretsOf(server),
  };
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
  /** Measures how long calls take, and where. */
  readonly stageTimes?: StageTimes | undefined;
  /** Where spans go; unset: nobody asked for traces. */
  readonly spans?: Spans | undefined;
  /** Where calls are on record; unset: nowhere. */
  readonly ledger?: LedgerOptions | undefined;
  /** What judges a call before it is on record, and what lets it go afterwards. */
  readonly governance: { readonly judging: readonly StageFactory[]; readonly releasing: readonly StageFactory[] };
};

/** In the order in which they see a call; ARCHITECTURE.md draws it with the failure exit of each. */
export function listStages({
  clock,
  log,
  recent,
  stageTimes,
  spans,
  ledger,
  governance,
}: StagePorts): readonly StageFactory[] {
  const trace = traceStage({ clock, log, recent, times: stageTimes });
  const telemetry =
    spans &&
    telemetryStage({ spans, now: () => performance.timeOrigin + performance.now(), epochMs: performance.timeOrigin });
  const record = ledger && ledgerStages(ledger);
  return [
    () => trace,
    () => telemetry,
    ...governance.judging,
    (entry) => record?.(entry),
    ...governance.releasing,
    ({ uris }) => uris && uriStage(uris),
  ];
}

export function revealAll(secrets: Readonly<Record<string, Secret>>): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]));
}
