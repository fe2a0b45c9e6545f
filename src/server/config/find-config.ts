/** Where a config comes from. The first place that has one wins; only MGP's two files are put together. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Of this process, as it was started. */
export function ownEnvironment(): Environment {
  return process.env;
}

export type FoundConfig = {
  /** Nearest first; empty when there is none. */
  readonly files: readonly string[];
  /** Every place that was looked at, in order. */
  readonly looked: readonly string[];
};

export function findConfig(options: { file?: string; folder: string; env: Environment; home?: string }): FoundConfig {
  const { folder, env } = options;
  // Named by someone: a file that is missing is then an error, not a reason to look elsewhere.
  if (options.file !== undefined) return named(resolve(folder, options.file));
  const ours = join(folder, "isthmus.toml");
  if (existsSync(ours)) return { files: [ours], looked: [ours] };
  if (env.MGP_CONFIG_PATH) return named(resolve(folder, env.MGP_CONFIG_PATH));
  const mgp = [join(folder, "mgp.toml"), join(options.home ?? homedir(), ".config", "mgp", "servers.toml")];
  return { files: mgp.filter((file) => existsSync(file)), looked: [ours, ...mgp] };
}

function named(file: string): FoundConfig {
  return { files: [file], looked: [file] };
}
