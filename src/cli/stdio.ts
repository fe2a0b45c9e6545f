import type { ConfigFlags } from "../server/config/index.ts";
import { Ending } from "./ending.ts";
import { endOnSignals, exit } from "./process-end.ts";
import { startGateway } from "./start.ts";

/** Serves one client on standard input and output, and ends the process when the client's side ends. */
export async function stdio(options: ConfigFlags & { readonly catalog?: string }): Promise<void> {
  const { gateway, log } = await startGateway(options, { hasState: false });
  const catalog = options.catalog ?? "";
  if (!gateway.hasCatalog(catalog)) {
    throw new Ending("usage", [
      `--catalog: expected the id of a server or a catalog, found ${JSON.stringify(catalog)}`,
    ]);
  }
  endOnSignals(log, () => gateway.close());
  await gateway.serveStdio({ input: process.stdin, output: process.stdout, catalog });
  await gateway.close();
  exit(log, "ok");
}
