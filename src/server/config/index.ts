/** The one way from the outside (files, flags, environment) to the config the gateway is made of. */
import type { LogLevel } from "../log-level.ts";
import { type Environment, findConfig } from "./find-config.ts";
import { type Config, loadConfig } from "./load-config.ts";
import { type RawConfig, readConfig } from "./read-config.ts";

export { ConfigError } from "./config-error.ts";
export type { Environment } from "./find-config.ts";
export { formatListen, type ListenAddress } from "./listen-address.ts";
export type { Config, GatewayConfig, ServerConfig } from "./load-config.ts";

export type ConfigFlags = { readonly config?: string; readonly listen?: string; readonly logLevel?: LogLevel };

export type ObtainedConfig = {
  readonly config: Config;
  /** The files it was made of, nearest first; none: it is the demo. */
  readonly files: readonly string[];
  readonly looked: readonly string[];
  /** Of this process. Nothing outside this folder reads it by itself. */
  readonly env: Environment;
};

/** Throws ConfigError. `program` is the file this process runs: the demo starts it again as its server. */
export function obtainConfig(flags: ConfigFlags, program: string): ObtainedConfig {
  const { env } = process;
  const { files, looked } = findConfig({ folder: process.cwd(), env, ...(flags.config && { file: flags.config }) });
  const raw = files.length > 0 ? readConfig(files) : demoConfig(program);
  const { listen, logLevel } = flags;
  const config = loadConfig(raw, { env, flags: { ...(listen && { listen }), ...(logLevel && { logLevel }) } });
  return { config, files, looked, env };
}

function demoConfig(program: string): RawConfig {
  const server = { id: "demo", command: process.execPath, args: [program, "demo-server"] };
  return { table: { servers: [server] }, folders: [process.cwd()] };
}
