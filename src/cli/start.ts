/** What `up` and `stdio` have in common: the config, the log, and the gateway made of them. */
import type { Log } from "../contract/index.ts";
import {
  type Config,
  ConfigError,
  type ConfigFlags,
  type ConfigSource,
  type ObtainedConfig,
} from "../server/config/index.ts";
import { createGateway } from "../server/gateway.ts";
import type { Gateway } from "../server/gateway-types.ts";
import { createLog, type FlushableLog, type LineFormat } from "../server/log.ts";
import { FileWarden } from "../server/private-files.ts";
import { RecentLines } from "../server/recent-lines.ts";
import { type GatewayState, openState, StateFault } from "../server/state/index.ts";
import { configuredUrl } from "./client/gateway-url.ts";
import { Ending } from "./ending.ts";
import { makeOperatorToken } from "./operator/operator-token.ts";
import { sayText } from "./output/console.ts";
import { readOwnConfig } from "./own-config.ts";
import { endOnDefects } from "./process-end.ts";
import { PROGRAM } from "./program-name.ts";

export type Started = {
  readonly gateway: Gateway;
  readonly log: FlushableLog;
  /** Where the config comes from. */
  readonly source: ConfigSource;
  /** Whoever runs it has a word to be known by. */
  readonly knowsOperator: boolean;
  /** Whether verbs in the same folder read the address that this gateway was given, without being told where it stands. */
  readonly isFound: boolean;
  /** Where a config was looked for, when none was found and the demo runs. */
  readonly looked: readonly string[] | undefined;
};

export type LogSink = {
  write(text: string): void;
  /** How it looks on a terminal when nobody asked for a certain level. */
  readonly format?: LineFormat | undefined;
};

const STANDARD_ERROR: LogSink = { write: sayText };

export type StartOptions = {
  /** Takes the log. */
  readonly sink?: LogSink;
  /** Whether anything is to outlive the process; a client that starts its own gateway takes everything along. */
  readonly hasState: boolean;
  /** Whether people can reach it beside its clients: then whoever runs it has a word to be known by. */
  readonly hasPages?: boolean;
};

/** Rejects with Ending when the config or a store cannot be used. Only the stores are open when it resolves. */
export async function startGateway(flags: ConfigFlags, options: StartOptions): Promise<Started> {
  const { sink = STANDARD_ERROR, hasState, hasPages = false } = options;
  const obtained = readOwnConfig(flags);
  const { ISTHMUS_FAULT_POINT: point, ISTHMUS_FAULT_LOG: file } = obtained.env;
  if (point || file) (await import("./fault-points.ts")).killAtFaultPoint(point, file);
  const level = obtained.config.gateway.logLevel;
  const isAsked = flags.logLevel !== undefined || level !== "info";
  const plain = process.stderr.isTTY ? "pretty" : "json";
  const format = isAsked ? plain : (sink.format ?? plain);
  const lines = new RecentLines();
  const log = createLog({ level, format, write: (text) => sink.write(text), keep: lines });
  endOnDefects(log);
  const warden = new FileWarden(log);
  checkFiles(warden, obtained);
  const state = hasState ? await openStores(obtained.config, log, flags) : undefined;
  const operatorToken = hasPages ? ownOperatorToken(log) : undefined;
  const { config, env, source, files } = obtained;
  const isFound = flags.listen === undefined && flags.config === undefined;
  const calledAs = { program: PROGRAM, isFound };
  const gateway = createGateway(config, { log, env, state, warden, operatorToken, calledAs, lines });
  const looked = files.length === 0 ? obtained.looked : undefined;
  return { gateway, log, source, isFound, knowsOperator: operatorToken !== undefined, looked };
}

/** A key that others can read or write is none. */
function checkFiles(warden: FileWarden, { config, source }: ObtainedConfig): void {
  try {
    warden.check(config, source);
  } catch (error) {
    if (error instanceof ConfigError) throw new Ending("file", error.problems);
    throw error;
  }
}

/** A gateway starts without it: then nobody is known as its operator. */
function ownOperatorToken(log: Log): string | undefined {
  try {
    return makeOperatorToken();
  } catch (error) {
    if (!(error instanceof Ending)) throw error;
    log.warn("operator token cannot be used", { reason: error.lines.join(" ") });
    return undefined;
  }
}

async function openStores(config: Config, log: Log, flags: ConfigFlags): Promise<GatewayState | undefined> {
  try {
    return await openState(config.state, log);
  } catch (error) {
    if (!(error instanceof StateFault)) throw error;
    throw new Ending("store", [error.message, ...(error.isTaken ? await ownerLines(config, flags) : [])]);
  }
}

/** Where the gateway is that has the stores, as far as it can be known: most likely where this one was to be. */
async function ownerLines(config: Config, flags: ConfigFlags): Promise<string[]> {
  const { findListener, listenerText } = await import("./operator/find-listener.ts");
  const { movedGateway, movedLine } = await import("./operator/moved-gateway.ts");
  const url = configuredUrl(config);
  const listener = url && (await findListener(url));
  return listener
    ? [`${listenerText(listener)} listens on ${url.origin}`]
    : movedLine(await movedGateway(flags.config));
}
