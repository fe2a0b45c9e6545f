import { type ConfigFlags, formatListen } from "../server/config/index.ts";
import type { Gateway } from "../server/gateway.ts";
import { Ending } from "./ending.ts";
import { endOnSignals } from "./process-end.ts";
import { startGateway } from "./start.ts";
import { summaryText } from "./summary.ts";

/** Returns when the gateway serves; the process then lives until a signal. */
export async function up(options: ConfigFlags & { readonly json?: boolean }): Promise<void> {
  const { gateway, log, looked } = startGateway(options);
  endOnSignals(log, () => gateway.close());
  const url = `http://${await listen(gateway)}/mcp`;
  log.info("listening", { url });
  await gateway.settled();
  const summary = { url, servers: gateway.servers(), ...(looked && { looked }) };
  process.stdout.write(options.json ? `${JSON.stringify(summary)}\n` : summaryText(summary));
}

async function listen(gateway: Gateway): Promise<string> {
  try {
    return formatListen(await gateway.listen());
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const address = formatListen(gateway.config.gateway.listen);
    const reason = code === "EADDRINUSE" ? "another program listens there" : message;
    throw new Ending("listen", [`gateway.listen: cannot listen on ${address}: ${reason}`]);
  }
}
