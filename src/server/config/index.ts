/** The one way from the outside (files, flags, environment) to the config the gateway is made of. */
import type { Config } from "./config.ts";
import { type ConfigFlags, ConfigSource } from "./config-source.ts";
import type { Environment } from "./find-config.ts";

export type { AddedTables } from "./added-tables.ts";
export { authWays, isAuthOn } from "./auth-config.ts";
export { beginsToKeep, type ConfigDifference, compareConfigs } from "./check-reload.ts";
export type { Config, GatewayConfig, ServerConfig } from "./config.ts";
export { ConfigError } from "./config-error.ts";
export { type ConfigFlags, ConfigSource, type NamedFile } from "./config-source.ts";
export type { Environment } from "./find-config.ts";
export { hasApprovers } from "./gate-config.ts";
export type { GatewayPlace } from "./gateway-place.ts";
export { headerName } from "./header-schema.ts";
export { formatListen, isLoopback, type ListenAddress, parseListen, reachableAt } from "./listen-address.ts";
export { ownToken } from "./own-token.ts";
export type { PinPlace } from "./pin-place.ts";
export { keepsNothing, type StateConfig } from "./state-config.ts";

export type ObtainedConfig = {
  readonly config: Config;
  /** The files it was made of, nearest first; none: it is the demo. */
  readonly files: readonly string[];
  readonly looked: readonly string[];
  /** Of this process. Nothing outside this folder reads it by itself. */
  readonly env: Environment;
  /** To read it again. */
  readonly source: ConfigSource;
};

/** Throws ConfigError. `program` is the file this process runs: the demo starts it again as its server. */
export function obtainConfig(flags: ConfigFlags, program: string): ObtainedConfig {
  const source = new ConfigSource(flags, program);
  const { files, looked, env } = source;
  return { config: source.read(), files, looked, env, source };
}
