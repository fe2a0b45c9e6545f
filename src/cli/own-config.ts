/** The config as verbs other than `up` and `stdio` use it: to find the gateway, and to stand in for it. */
import {
  ConfigError,
  type ConfigFlags,
  ConfigSource,
  type GatewayPlace,
  type ObtainedConfig,
  obtainConfig,
  type PinPlace,
} from "../server/config/index.ts";
import { Ending } from "./ending.ts";
import { say } from "./output/console.ts";
import { plainLine } from "./output/plain.ts";

/** Throws Ending when the config cannot be used. */
export function readOwnConfig(flags: ConfigFlags): ObtainedConfig {
  return orEnding(() => obtainConfig(flags, process.argv[1] ?? ""));
}

/** Where the gateway is, whatever is wrong with its config, or unknown in this shell: see sayProblems. Throws Ending. */
export function readGatewayPlace({ config }: { readonly config?: string }): GatewayPlace {
  return orEnding(() => new ConfigSource(config === undefined ? {} : { config }, process.argv[1] ?? "").place());
}

/** Where the pins are, whatever of the config is unknown in this shell. Throws Ending. */
export function readPinPlace({ config }: { readonly config?: string }): PinPlace {
  return orEnding(() => new ConfigSource(config === undefined ? {} : { config }, process.argv[1] ?? "").pinPlace());
}

/** Once, by a verb that goes on with the gateway at that place: its file may be broken. */
export function sayProblems({ problems = [] }: GatewayPlace, { origin }: URL): void {
  if (problems.length === 0 || hasSaid) return;
  hasSaid = true;
  say(plainLine(`${problems.join("; ")}; going on with ${origin}`));
}

let hasSaid = false;

function orEnding<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) throw new Ending("config", error.problems);
    throw error;
  }
}
