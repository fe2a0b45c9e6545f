/** What `up` and `stdio` have in common: the config, the log, and the gateway made of them. */
import { ConfigError, type ConfigFlags, obtainConfig } from "../server/config/index.ts";
import { createGateway, type Gateway } from "../server/gateway.ts";
import { createLog, type FlushableLog } from "../server/log.ts";
import { Ending } from "./ending.ts";
import { endOnDefects } from "./process-end.ts";

export type Started = {
  readonly gateway: Gateway;
  readonly log: FlushableLog;
  /** Where a config was looked for, when none was found and the demo runs. */
  readonly looked: readonly string[] | undefined;
};

/** Throws Ending when the config cannot be used. Nothing is open yet when it returns. */
export function startGateway(flags: ConfigFlags): Started {
  const obtained = obtain(flags);
  const log = createLog({
    level: obtained.config.gateway.logLevel,
    format: process.stderr.isTTY ? "pretty" : "json",
    write: (text) => process.stderr.write(text),
  });
  endOnDefects(log);
  const gateway = createGateway(obtained.config, { log, env: obtained.env });
  return { gateway, log, looked: obtained.files.length === 0 ? obtained.looked : undefined };
}

function obtain(flags: ConfigFlags) {
  try {
    return obtainConfig(flags, process.argv[1] ?? "");
  } catch (error) {
    if (error instanceof ConfigError) throw new Ending("config", error.problems);
    throw error;
  }
}
