/** Clients that were pointed at us: whether they still find what they were told. */

import { existsSync } from "node:fs";
import type { Environment } from "../../server/config/index.ts";
import type { NewServer } from "../config-file/server-text.ts";
import { Ending } from "../ending.ts";
import { CLIENTS } from "../import/client-files.ts";
import { knownPlaces, readSource } from "../import/find-sources.ts";
import { isOurServer } from "../import/import-plan.ts";
import { PROGRAM } from "../program-name.ts";
import { type Finding, ok, warning } from "./finding.ts";

/** `needsOthers`: calls may need a yes that a client which starts us cannot give. */
export function checkClients(env: Environment, gatewayUrl: URL | undefined, needsOthers: boolean): Finding[] {
  return knownPlaces(env).flatMap((place) => {
    const what = Object.hasOwn(CLIENTS, place.client) ? `clients.${place.client}` : "clients";
    try {
      const servers = readSource(place, env, false)?.servers.flatMap(({ server }) => server ?? []) ?? [];
      return servers
        .filter((server) => isOurServer(server, gatewayUrl))
        .map((server) => judge(what, place.file, server, needsOthers));
    } catch (error) {
      if (!(error instanceof Ending)) throw error;
      return [warning(what, error.message, "correct the file; the client cannot read it either")];
    }
  });
}

function judge(
  what: string,
  file: string,
  { command, args = [], url }: Omit<NewServer, "id">,
  needsOthers: boolean,
): Finding {
  if (url !== undefined) return ok(what, `${file} points at ${url}`);
  const bridged = args.find((arg) => /^https?:/i.test(arg));
  if (bridged !== undefined) return ok(what, `${file} points at ${bridged}, through ${command}`);
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
