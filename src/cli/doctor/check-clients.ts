/** Clients that were pointed at us: whether they still find what they were told. */
import { existsSync } from "node:fs";
import type { Environment } from "../../server/config/index.ts";
import type { NewServer } from "../config-file/server-text.ts";
import { Ending } from "../ending.ts";
import { CLIENTS } from "../import/client-files.ts";
import { knownPlaces, readSource } from "../import/find-sources.ts";
import { isOurServer } from "../import/import-plan.ts";
import { type Finding, ok, warning } from "./finding.ts";

export function checkClients(env: Environment, gatewayUrl: URL | undefined): Finding[] {
  return knownPlaces(env).flatMap((place) => {
    const what = Object.hasOwn(CLIENTS, place.client) ? `clients.${place.client}` : "clients";
    try {
      const servers = readSource(place, env, false)?.servers.flatMap(({ server }) => server ?? []) ?? [];
      return servers
        .filter((server) => isOurServer(server, gatewayUrl))
        .map((server) => judge(what, place.file, server));
    } catch (error) {
      if (!(error instanceof Ending)) throw error;
      return [warning(what, error.message, "correct the file; the client cannot read it either")];
    }
  });
}

function judge(what: string, file: string, { command, args = [], url }: Omit<NewServer, "id">): Finding {
  if (url !== undefined) return ok(what, `${file} points at ${url}`);
  const config = args[args.indexOf("--config") + 1];
  const program = args.find((arg) => /isthmus\.js$/.test(arg));
  const missing = [command?.startsWith("/") ? command : undefined, program, config].find(
    (path) => path?.startsWith("/") && !existsSync(path),
  );
  if (missing === undefined) return ok(what, `${file} starts isthmus stdio`);
  return warning(what, `${file} names ${missing}, which is not there`, "run isthmus import --connect again, or --undo");
}
