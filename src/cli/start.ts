/** What `up` and `stdio` have in common: the config, the log, and the gateway made of them. */
import type { Log } from "../contract/index.ts";
import type { Config, ConfigFlags, ConfigSource } from "../server/config/index.ts";
import { createGateway } from "../server/gateway.ts";
import type { Gateway } from "../server/gateway-types.ts";
import { createLog, type FlushableLog, type LineFormat } from "../server/log.ts";
import { type GatewayState, openState, StateFault } from "../server/state/index.ts";
import { Ending } from "./ending.ts";
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

export type StartOptions = {
  /** Takes the log. */
  readonly sink?: LogSink;
  /** Whether anything is to outlive the process; a client that starts its own gateway takes everything along. */
  readonly hasState: boolean;
};

/** Rejects with Ending when the config or a store cannot be used. Only the stores are open when it resolves. */
export async function startGateway(flags: ConfigFlags, options: StartOptions): Promise<Started> {
  const { sink = STANDARD_ERROR, hasState } = options;
  const obtained = readOwnConfig(flags);
  const { ISTHMUS_FAULT_POINT: point, ISTHMUS_FAULT_LOG: file } = obtained.env;
  if (point || file) (await import("./fault-points.ts")).killAtFaultPoint(point, file);
  const level = obtained.config.gateway.logLevel;
  const isAsked = flags.logLevel !== undefined || level !== "info";
  const plain = process.stderr.isTTY ? "pretty" : "json";
  const format = isAsked ? plain : (sink.format ?? plain);
  const log = createLog({ level, format, write: (text) => sink.write(text) });
  endOnDefects(log);
  const state = hasState ? await openStores(obtained.config, log) : undefined;
  const gateway = createGateway(obtained.config, { log, env: obtained.env, state });
  return { gateway, log, source: obtained.source, looked: obtained.files.length === 0 ? obtained.looked : undefined };
}

async function openStores({ state }: Config, log: Log): Promise<GatewayState | undefined> {
  try {
    return await openState(state, log);
  } catch (error) {
    if (error instanceof StateFault) throw new Ending("store", [error.message]);
    throw error;
  }
}
