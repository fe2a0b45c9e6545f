import { GatewayError } from "../contract/index.ts";
import { authWays, type ConfigFlags, formatListen, isAuthOn } from "../server/config/index.ts";
import type { Gateway } from "../server/gateway-types.ts";
import { Ending } from "./ending.ts";
import { onHangup } from "./hangup.ts";
import { outputWidth } from "./output/console.ts";
import { endOnSignals } from "./process-end.ts";
import { programName } from "./program-name.ts";
import { startGateway } from "./start.ts";
import { summaryText } from "./summary.ts";
import { watchStart } from "./watch-start.ts";

/** Returns when the gateway serves; the process then lives until a signal. */
export async function up(options: ConfigFlags & { readonly json?: boolean }): Promise<void> {
  const watch = watchStart({ isQuiet: options.json ?? false });
  const { gateway, log, source, looked } = await startGateway(options, { sink: watch, hasState: true });
  endOnSignals(log, () => gateway.close());
  const url = `${gateway.config.gateway.tls ? "https" : "http"}://${await listen(gateway)}/mcp`;
  log.info("listening", { url });
  const follower = gateway.follow(source, (change) => void watch.changed(gateway, change));
  onHangup(() => void follower.reload());
  await watch.settled(gateway);
  const call = looked && (await demoCall(url));
  const { auth } = gateway.config;
  const callers = isAuthOn(auth) && { callers: authWays(auth) };
  const summary = { url, servers: gateway.servers(), ...callers, ...(looked && { looked }), ...(call && { call }) };
  const shown = {
    program: programName(source.env),
    width: outputWidth(),
    isFound: options.listen === undefined && gateway.config.gateway.listen.port !== 0,
  };
  process.stdout.write(options.json ? `${JSON.stringify(summary)}\n` : summaryText(summary, shown));
  watch.started(gateway);
}

/** Loaded only for a first run: a client is no part of every start. */
async function demoCall(url: string) {
  const { makeDemoCall } = await import("./demo-call.ts");
  return await makeDemoCall(url);
}

async function listen(gateway: Gateway): Promise<string> {
  try {
    return formatListen(await gateway.listen());
  } catch (error) {
    if (GatewayError.is(error) && error.code === "STATE_UNAVAILABLE") throw new Ending("store", [error.message]);
    const { code, message } = error as NodeJS.ErrnoException;
    const address = formatListen(gateway.config.gateway.listen);
    const reason = code === "EADDRINUSE" ? "another program listens there" : message;
    throw new Ending("listen", [`gateway.listen: cannot listen on ${address}: ${reason}; --listen chooses another`]);
  }
}
