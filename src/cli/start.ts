/** What `up` and `stdio` have in common: the config, the log, and the gateway made of them. */
import type { ConfigFlags, ConfigSource } from "../server/config/index.ts";
import { createGateway, type Gateway } from "../server/gateway.ts";
import { createLog, type FlushableLog, type LineFormat } from "../server/log.ts";
import { readOwnConfig } from "./own-config.ts";
import { endOnDefects } from "./process-end.ts";

export type Started = {
  readonly gateway: Gateway;
  readonly log: FlushableLog;
  /** Where the config comes from. */
  readonly source: ConfigSource;
  /** Where a config was looked for, when none was found and the demo runs. */
  readonly looked: readonly string[] | undefined;
};

export type LogSink = {
  write(text: string): void;
  /** How it looks on a terminal when nobody asked for a certain level. */
  readonly format?: LineFormat | undefined;
};

const STANDARD_ERROR: LogSink = { write: (text) => process.stderr.write(text) };

/** Throws Ending when the config cannot be used. Nothing is open yet when it returns. `sink` takes the log. */
export function startGateway(flags: ConfigFlags, sink = STANDARD_ERROR): Started {
  const obtained = readOwnConfig(flags);
  const level = obtained.config.gateway.logLevel;
  const isAsked = flags.logLevel !== undefined || level !== "info";
  const plain = process.stderr.isTTY ? "pretty" : "json";
  const format = isAsked ? plain : (sink.format ?? plain);
  const log = createLog({ level, format, write: (text) => sink.write(text) });
  endOnDefects(log);
  const gateway = createGateway(obtained.config, { log, env: obtained.env });
  return { gateway, log, source: obtained.source, looked: obtained.files.length === 0 ? obtained.looked : undefined };
}
