/** The config as verbs other than `up` and `stdio` use it: to find the gateway, and to stand in for it. */
import { ConfigError, type ConfigFlags, type ObtainedConfig, obtainConfig } from "../server/config/index.ts";
import { Ending } from "./ending.ts";

/** Throws Ending when the config cannot be used. */
export function readOwnConfig(flags: ConfigFlags): ObtainedConfig {
  try {
    return obtainConfig(flags, process.argv[1] ?? "");
  } catch (error) {
    if (error instanceof ConfigError) throw new Ending("config", error.problems);
    throw error;
  }
}
