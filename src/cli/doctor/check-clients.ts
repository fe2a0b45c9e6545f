/** Clients that were pointed at us: whether they still find what they were told. */

import { existsSync } from "node:fs";
import type { Environment } from "../../server/config/index.ts";
import { missingEndpoint } from "../client/endpoint.ts";
import type { NewServer } from "../config-file/server-text.ts";
import { Ending } from "../ending.ts";
import { CLIENTS } from "../import/client-files.ts";
import { knownPlaces, readSource } from "../import/find-sources.ts";
import { isOurServer } from "../import/import-plan.ts";
import { PROGRAM } from "../program-name.ts";
import { type Finding, ok, warning } from "./finding.ts";

/** `needsOthers`: calls may need a yes that a client which starts us cannot give. */
export async function checkClients(
  env: Environment,
  gatewayUrl: URL | undefined,
  needsOthers: boolean,
): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const place of knownPlaces(env)) {
    const what = Object.hasOwn(CLIENTS, place.client) ? `clients.${place.client}` : "clients";
    try {
      const servers = readSource(place, env, false)?.servers.flatMap(({ server }) => server ?? []) ?? [];
      for (const server of servers.filter((one) => isOurServer(one, gatewayUrl)))
        found.push(await judge(what, place.file, server, { gatewayUrl, needsOthers }));
    } catch (error) {
      if (!(error instanceof Ending)) throw error;
      found.push(warning(what, error.message, "correct the file; the client cannot read it either"));
    }
  }
  return found;
}

async function judge(
  what: string,
  file: string,
  { command, args = [], url }: Omit<NewServer, "id">,
  { gatewayUrl, needsOthers }: { readonly gatewayUrl: URL | undefined; readonly needsOthers: boolean },
): Promise<Finding> {
  const address = url ?? args.find((arg) => /^https?:/i.test(arg));
  if (address !== undefined) {
    const said = `${file} points at ${address}${url === undefined ? `, through ${command}` : ""}`;
    // A token of the environment is for this gateway, and not for whatever else a line names.
    const isOurs = URL.canParse(address) && new URL(address).origin === gatewayUrl?.origin;
    const missing = isOurs ? await missingEndpoint(new URL(address)) : undefined;
    if (missing === undefined) return ok(what, said);
    return warning(what, `${said}; ${missing}`, "name a server or catalog of the config before /mcp there");
  }
  const config = args[args.indexOf("--config") + 1];
  const missing = [command, args[0], config].find((path) => path?.startsWith("/") && !existsSync(path));
  const refused = needsOthers ? "; calls that need a yes are refused there" : "";
  if (missing === undefined) return ok(what, `${file} starts isthmus stdio${refused}`);
  return warning(
    what,
    `${file} names ${missing}, which is not there`,
    `run ${PROGRAM} import --connect again, or --undo`,
  );
}
