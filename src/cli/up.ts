import { GatewayError } from "../contract/index.ts";
import {
  authWays,
  type ConfigFlags,
  type ConfigSource,
  formatListen,
  isAuthOn,
  isLoopback,
  type ListenAddress,
  reachableAt,
} from "../server/config/index.ts";
import type { ConfigChange, Gateway } from "../server/gateway-types.ts";
import { configuredUrl } from "./client/gateway-url.ts";
import { Ending } from "./ending.ts";
import { onHangup } from "./hangup.ts";
import { endWithNpm, isStartedByNpm } from "./npm-parent.ts";
import { leaveMark } from "./operator/gateway-mark.ts";
import { outputWidth, printJson, printText } from "./output/console.ts";
import { endOnSignals } from "./process-end.ts";
import { PROGRAM } from "./program-name.ts";
import { startGateway } from "./start.ts";
import { summaryText } from "./summary.ts";
import { watchStart } from "./watch-start.ts";

/** Returns when the gateway serves; the process then lives until a signal. */
export async function up(options: ConfigFlags & { readonly json?: boolean }): Promise<void> {
  const watch = watchStart({ isQuiet: options.json ?? false });
  const started = await startGateway(options, { sink: watch, hasState: true, hasPages: true });
  const { gateway, log, source, looked, knowsOperator } = started;
  let unmark = () => {};
  endOnSignals(log, () => gateway.close().finally(() => unmark()), { hasEcho: isStartedByNpm(source.env) });
  endWithNpm(source.env);
  const address = await listen(gateway, source.files);
  const urlOf = (at: ListenAddress) => `${gateway.config.gateway.tls ? "https" : "http"}://${formatListen(at)}/mcp`;
  const [url, reachable] = [urlOf(address), urlOf(reachableAt(address))];
  log.info("listening", { url });
  const isGiven = options.listen !== undefined || Boolean(source.env.ISTHMUS_LISTEN);
  unmark = leaveMark(gateway, { pid: process.pid, url: reachable, isGiven });
  const follower = gateway.follow(
    source,
    withoutDemo(source, (change) => void watch.changed(gateway, change)),
  );
  onHangup(() => void follower.reload());
  await watch.settled(gateway);
  const call = looked && (await demoCall(reachable));
  const { auth } = gateway.config;
  const callers = isAuthOn(auth) && { callers: authWays(auth) };
  const grantsNothing = gateway.grantsNothing() && { grantsNothing: true };
  const lacksTokens = (await gateway.lacksTokens().catch(() => false)) && { lacksTokens: true };
  const rest = { ...callers, ...grantsNothing, ...lacksTokens, ...(looked && { looked }), ...(call && { call }) };
  const summary = { url, servers: gateway.servers(), ...rest };
  const shown = {
    program: PROGRAM,
    reachable,
    width: outputWidth(),
    knowsOperator,
    isFound: started.isFound && gateway.config.gateway.listen.port !== 0,
    ...(lacksNames(gateway, address) && { lacksNames: true }),
  };
  if (options.json) printJson(summary);
  else printText(summaryText(summary, shown));
  watch.started(gateway);
}

/** Other machines reach it, and no name was written that they may call it by. */
function lacksNames({ config: { gateway, auth } }: Gateway, { host }: ListenAddress): boolean {
  return !isLoopback(host) && gateway.allowedHosts.length === 0 && auth.resource === undefined;
}

/** Without the settings that the demo brings along and takes away with it: nobody wrote them. */
function withoutDemo(source: ConfigSource, show: (change: ConfigChange) => void): (change: ConfigChange) => void {
  const isDemo = () => source.files.length === 0;
  let wasDemo = isDemo();
  return (change) => {
    show(wasDemo || isDemo() ? { ...change, settings: [] } : change);
    wasDemo = isDemo();
  };
}

/** Loaded only for a first run: a client is no part of every start. */
async function demoCall(url: string) {
  const { makeDemoCall } = await import("./demo-call.ts");
  return await makeDemoCall(url);
}

async function listen(gateway: Gateway, files: readonly string[]): Promise<ListenAddress> {
  try {
    return await gateway.listen();
  } catch (error) {
    if (GatewayError.is(error) && error.code === "STATE_UNAVAILABLE") throw new Ending("store", [error.message]);
    const { code, message } = error as NodeJS.ErrnoException;
    const address = formatListen(gateway.config.gateway.listen);
    const cannot = `gateway.listen: cannot listen on ${address}:`;
    if (code !== "EADDRINUSE") throw new Ending("listen", [`${cannot} ${message}; --listen chooses another`]);
    throw new Ending("listen", await takenLines(cannot, gateway, files));
  }
}

/** Who has the address, and what to do. */
async function takenLines(cannot: string, { config }: Gateway, files: readonly string[]): Promise<string[]> {
  const { findListener, listenerText, runsWith } = await import("./operator/find-listener.ts");
  const url = configuredUrl(config);
  const listener = url && (await findListener(url));
  if (!listener) return [`${cannot} another program listens there; --listen chooses another`];
  const instead = runsWith(listener, files)
    ? "it takes over changes of its config by itself; to start it anew, stop it first (Ctrl-C where it runs)"
    : "stop it first (Ctrl-C where it runs), or choose another address with --listen";
  return [`${cannot} ${listenerText(listener)} listens there already`, instead];
}
