import { LOCAL, matchesPattern } from "../contract/index.ts";
import type { Config, ConfigFlags } from "../server/config/index.ts";
import { declaredPolicy } from "../server/governance/access.ts";
import { Ending } from "./ending.ts";
import { say } from "./output/console.ts";
import { endOnSignals, exit } from "./process-end.ts";
import { PROGRAM } from "./program-name.ts";
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
  for (const line of closedLines(gateway.config)) say(line);
  endOnSignals(log, () => gateway.close());
  await gateway.serveStdio({ input: process.stdin, output: process.stdout, catalog });
  await gateway.close();
  exit(log, "ok");
}

/** What to write where the client is offered nothing: what verbs have granted is in a database that is not opened here. */
function closedLines(config: Config): string[] {
  const { defaults, grants, bindings, rules } = declaredPolicy(config);
  const opens = [
    defaults.length === 0 || defaults.some(({ policy }) => policy === "opt-out"),
    grants.some(({ permission, agent }) => permission === "allow" && matchesPattern(agent, LOCAL.id)),
    bindings.some(({ allowed }) => allowed) || rules.some(({ effect }) => effect === "allow"),
  ];
  if (opens.includes(true)) return [];
  const server = JSON.stringify(config.servers[0]?.id ?? "SERVER");
  return [
    `nothing is offered: a client on stdio is ${JSON.stringify(LOCAL.id)}, and with defaultPolicy = "opt-in" the config grants it nothing`,
    `write [[access.grants]] with agent = ${JSON.stringify(LOCAL.id)} and server = ${server}; what "${PROGRAM} grant" has granted counts with "${PROGRAM} up" only`,
  ];
}
