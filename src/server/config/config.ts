/** The config in its one internal form: units settled, references resolved, paths absolute. */
import type { Naming } from "../../contract/index.ts";
import type { LimitEntry } from "../../mechanisms/limits/index.ts";
import type { McpTransportKind } from "../../providers/mcp/mcp-config.ts";
import type { LogLevel } from "../log-level.ts";
import type { AccessConfig } from "./access-config.ts";
import type { AuditConfig } from "./audit-config.ts";
import type { AuthConfig } from "./auth-config.ts";
import type { CatalogConfig } from "./catalog-config.ts";
import type { GateConfig } from "./gate-config.ts";
import type { EdgeConfig } from "./limits-config.ts";
import type { ListenAddress } from "./listen-address.ts";
import type { Secret } from "./secret.ts";
import type { ServerAuth } from "./server-auth-config.ts";
import type { ServerTable } from "./server-config.ts";
import type { StateConfig } from "./state-config.ts";
import type { TlsConfig } from "./tls-config.ts";
import type { VaultConfig } from "./vault-config.ts";

export type ServerConfig = Omit<
  ServerTable,
  "env" | "headers" | "auth" | "cwd" | "transport" | "restart" | "disabled"
> & {
  /** How it gets tokens; unset: only what its headers say. */
  readonly auth?: ServerAuth;
  readonly transport: McpTransportKind;
  readonly restart: "on-failure" | "never";
  readonly segment: string;
  readonly cwd: string;
  /** As it stands in the file; unset: nothing does. */
  readonly writtenCwd?: string;
  readonly timeoutMs: number;
  readonly env: Readonly<Record<string, Secret>>;
  readonly headers: Readonly<Record<string, Secret>>;
  /** Its words before variables were filled in, to be shown: what these hold may be a secret. Unset: there were none. */
  readonly written?: { readonly command?: string; readonly url?: string };
  /** Why it cannot be used as it is written: a variable that is not set, a file that is not there. It is not started. */
  readonly fault?: string;
  /** Why its secrets could not be read again; it goes on with those that it has. */
  readonly kept?: string;
};

export type GatewayConfig = {
  readonly listen: ListenAddress;
  /** Unset: plain HTTP. */
  readonly tls?: TlsConfig;
  readonly naming: Naming;
  readonly sessions: "auto" | "stateful";
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Addresses and networks, checked for their form. */
  readonly trustedProxies: readonly string[];
  readonly sse: boolean;
  readonly pageSize: number | undefined;
  readonly maxBodyBytes: number;
  readonly timeoutMs: number;
  readonly inputTimeoutMs: number;
  readonly sessionIdleMs: number;
  readonly sessionAgeMs: number;
  readonly resumeWindowMs: number;
  readonly drainMs: number;
  readonly logLevel: LogLevel;
  /** Where the gateway keeps what it must remember; unset: nowhere. */
  readonly state?: string;
  /** What seals the state that clients bring back; unset: random. */
  readonly sealKey?: Secret;
  /** What is kept away before anybody looks at it; unset: nothing. */
  readonly edge?: EdgeConfig;
};

export type TelemetryConfig = {
  /** Unset: nothing is exported. */
  readonly endpoint?: string;
  readonly headers: Readonly<Record<string, Secret>>;
};

export type Config = {
  readonly gateway: GatewayConfig;
  readonly servers: readonly ServerConfig[];
  /** Ids of the servers that are left out. */
  readonly disabled: readonly string[];
  readonly catalogs: readonly CatalogConfig[];
  readonly limits: readonly LimitEntry[];
  readonly access: AccessConfig;
  readonly audit: AuditConfig;
  readonly auth: AuthConfig;
  readonly gate: GateConfig;
  readonly telemetry: TelemetryConfig;
  readonly state: StateConfig;
  readonly vault: VaultConfig;
};
