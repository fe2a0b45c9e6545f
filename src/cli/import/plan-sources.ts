/** Every file that an import reads, each with what is planned for its servers. */
import { segmentFor } from "../../server/config/check-servers.ts";
import type { Environment } from "../../server/config/index.ts";
import type { ConfigFile } from "../config-file/config-file.ts";
import { isSameServer } from "../config-file/same-server.ts";
import type { NewServer } from "../config-file/server-text.ts";
import { Ending } from "../ending.ts";
import { say } from "../output/console.ts";
import type { ClientDocument } from "./client-document.ts";
import type { ClientPlace } from "./client-files.ts";
import { findSources, projectFolder, readSource } from "./find-sources.ts";
import { type ImportPlan, isOurServer, planImport } from "./import-plan.ts";
import { isFreeFor } from "./secret-files.ts";
import { SecretPaths } from "./secret-paths.ts";

export type ImportSource = {
  readonly place: ClientPlace;
  readonly document: ClientDocument;
  readonly plan: ImportPlan;
};

/** Throws Ending when a file that was named cannot be read. */
export function planSources(word: string | undefined, file: ConfigFile): ImportSource[] {
  const ids = new Set(file.ids);
  const segments = new Set(file.segments);
  const gatewayUrl = URL.canParse(`http://${file.listen}`) ? new URL(`http://${file.listen}`) : undefined;
  const isOurs = (server: Omit<NewServer, "id">) => isOurServer(server, gatewayUrl);
  const { take: takeSecretPath } = new SecretPaths((path, value) => isFreeFor(file.folder, { path, value }));
  const sources: ImportSource[] = [];
  const planned: NewServer[] = [];
  const isSame = (id: string, server: Omit<NewServer, "id">) =>
    file.isSame(id, server) || planned.some((one) => one.id === id && isSameServer(one, server));
  for (const place of findSources(word, file.env)) {
    const document = word === undefined ? readIfUsable(place, file.env) : readSource(place, file.env, true);
    if (!document) continue;
    const found = document.servers.map(({ server, ...rest }) => ({
      ...rest,
      server: server && withFolder(server, place, file),
    }));
    const plan = planImport(found, { ids, segments, isOurs, isSame, takeSecretPath });
    for (const server of plan.servers.flatMap((one) => one.server ?? [])) {
      planned.push(server);
      ids.add(server.id);
      segments.add(segmentFor(server));
    }
    sources.push({ place, document, plan });
  }
  return sources;
}

/** One client's broken file is no reason to leave out the others. */
function readIfUsable(place: ClientPlace, env: Environment): ClientDocument | undefined {
  try {
    return readSource(place, env, false);
  } catch (error) {
    if (!(error instanceof Ending)) throw error;
    say(`${error.message}; it is left out`);
    return undefined;
  }
}

/** A program starts beside the config; one of a project elsewhere must go on starting there. */
function withFolder(server: Omit<NewServer, "id">, place: ClientPlace, file: ConfigFile): Omit<NewServer, "id"> {
  const folder = projectFolder(place);
  const isLocal = place.isProject && server.command !== undefined && server.cwd === undefined;
  return isLocal && folder !== file.folder ? { ...server, cwd: folder } : server;
}
