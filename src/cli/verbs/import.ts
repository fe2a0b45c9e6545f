import { formatListen, parseListen, reachableAt } from "../../server/config/index.ts";
import {
  type ConfigFile,
  openConfigFile,
  textWith,
  unsetVariables,
  writeConfigFile,
} from "../config-file/config-file.ts";
import { serverText } from "../config-file/server-text.ts";
import { writtenFile } from "../config-file/write-atomically.ts";
import { Ending } from "../ending.ts";
import { replaceWithBackup } from "../import/backup.ts";
import { makeBackupKey } from "../import/backup-key.ts";
import { CLIENTS, type ClientPlace } from "../import/client-files.ts";
import { userFile } from "../import/find-sources.ts";
import { maskedEntry, maskedServer } from "../import/masked.ts";
import { type ImportSource, planSources } from "../import/plan-sources.ts";
import { bridgeTo, type OurEntry, ourAddress, ourCommand, pointAtUs, serversWithUs } from "../import/point-at-us.ts";
import { type ImportReport, importLines } from "../import/report.ts";
import { writeSecrets } from "../import/secret-files.ts";
import { undoImport } from "../import/undo-import.ts";
import { outputWidth, print, printJson, printText, say } from "../output/console.ts";

export type ImportOptions = {
  readonly config?: string;
  readonly dryRun?: boolean;
  /** True: as a command. */
  readonly connect?: boolean | string;
  readonly undo?: boolean;
  readonly json?: boolean;
};

/** Takes over the servers of other clients, and points those at the gateway when asked to. */
export function importServers(word: string | undefined, options: ImportOptions): void {
  const file = openConfigFile(options);
  if (options.undo) return undoImport(word, file.env, options.json ?? false);
  const sources = planSources(word, file);
  checkSources(sources, word, options);
  if (options.connect === "url") checkAddresses(sources, file, options);
  const servers = sources.flatMap(({ plan }) => plan.servers.flatMap(({ server }) => server ?? []));
  const text = servers.length > 0 ? textWith(file, servers) : file.text;
  if (!options.dryRun && servers.length > 0) writeAll(file, sources, text);
  const connected = options.connect ? sources.map((source) => connectSource(source, file, options)) : [];
  for (const name of unsetVariables(servers, file.env))
    say(`set ${name} before the gateway starts; it is not set here`);
  const report: ImportReport = {
    sources: sources.map(({ place: { client, file: path }, plan }) => ({
      ...{ client, file: path },
      servers: plan.servers.map((one) => ({ ...one, server: one.server && maskedServer(one.server) })),
    })),
    config: file.path,
    added: servers.map(({ id }) => id),
    isDryRun: options.dryRun ?? false,
    text: servers
      .map((server) => serverText(maskedServer(server)))
      .join("\n")
      .trim(),
    connected,
  };
  if (options.json) printJson(report);
  else for (const line of importLines(report, outputWidth())) print(line);
}

function checkSources(sources: readonly ImportSource[], word: string | undefined, { connect }: ImportOptions): void {
  if (sources.length === 0) {
    const known = Object.keys(CLIENTS).join(", ");
    const nothing =
      word === undefined ? "no client's file was found here" : `${word}: no file of this client was found here`;
    throw new Ending("file", [`${nothing}; name a file, or one of ${known}`]);
  }
  if (!connect) return;
  if (sources.length > 1) {
    const files = sources.map(({ place }) => place.file).join(", ");
    throw new Ending("usage", [`--connect changes one file, found ${sources.length}; name one of ${files}`]);
  }
  const stranger = sources.find(({ document }) => document.path === undefined);
  if (stranger) throw new Ending("usage", [`--connect: ${stranger.place.file} belongs to no client`]);
  for (const { place } of sources) writtenFile(userFile(place));
}

/** A client that starts all that it names reaches a gateway that runs through a bridge only, which is somebody else's program. */
function checkAddresses(sources: readonly ImportSource[], file: ConfigFile, { json }: ImportOptions): void {
  if (sources.every(({ place }) => readsAddresses(place))) return;
  const entry = { mcpServers: { isthmus: bridgeTo(addressOf(file)) } };
  if (json) printJson({ entry });
  else printText(`${JSON.stringify(entry, null, 2)}\n`);
  throw new Ending("usage", [
    "--connect url: Claude Desktop starts every server that its file names, and skips addresses there; nothing was written",
    "what is printed above has it reach the gateway that runs through mcp-remote, a program of others: put it into its file by hand",
    '--connect alone lets it start isthmus stdio, where [gate] mode = "open" lets calls through that need a yes elsewhere',
  ]);
}

/** The secrets first: a gateway that follows the config must find them. */
function writeAll(file: ConfigFile, sources: readonly ImportSource[], text: string): void {
  const takeBack = writeSecrets(
    file.folder,
    sources.flatMap(({ plan }) => plan.secrets),
  );
  try {
    writeConfigFile(file, text);
  } catch (error) {
    takeBack();
    throw error;
  }
}

function connectSource(
  { place, document, plan }: ImportSource,
  file: ConfigFile,
  options: ImportOptions,
): ImportReport["connected"][number] {
  const kept = plan.servers.filter(({ isOnlyThere }) => isOnlyThere).map(({ name }) => name);
  const ours = ourEntry(place, file, options);
  const after = pointAtUs(document, ours, kept);
  const isDone = options.dryRun || after === document.text;
  const backup = isDone ? undefined : keepAndReplace(place, document.text, after);
  return {
    file: place.file,
    isAlone: "command" in ours,
    readsAddresses: readsAddresses(place),
    backup,
    kept,
    text: JSON.stringify(maskedEntry(serversWithUs(document, ours, kept)), null, 2),
  };
}

function keepAndReplace(place: ClientPlace, read: string, after: string): string {
  return replaceWithBackup(userFile(place), makeBackupKey(), { read, after, now: new Date() });
}

function readsAddresses({ client }: ClientPlace): boolean {
  return ourAddress(client, "") !== undefined;
}

function ourEntry({ client }: ClientPlace, file: ConfigFile, { connect }: ImportOptions): OurEntry {
  const address = connect === "url" ? ourAddress(client, addressOf(file)) : undefined;
  return address ?? ourCommand(process.argv[1] ?? "", file.env, file.path);
}

function addressOf(file: ConfigFile): string {
  const listen = parseListen(file.listen);
  return `http://${listen ? formatListen(reachableAt(listen)) : file.listen}/mcp`;
}
