/** The config file as verbs change it: the whole is checked before it is written. */
import { dirname, resolve } from "node:path";
import { segmentFor } from "../../server/config/check-servers.ts";
import { gatewaySchema } from "../../server/config/gateway-config.ts";
import { ConfigError, ConfigSource, type Environment } from "../../server/config/index.ts";
import { loadConfig } from "../../server/config/load-config.ts";
import { parseToml, TomlFault } from "../../server/config/parse-toml.ts";
import { findTomlLines, type KeyPath } from "../../server/config/toml-lines.ts";
import { Ending } from "../ending.ts";
import { objectOf, objectsIn, textOf } from "../json.ts";
import { isSameServer } from "./same-server.ts";
import { appendServers, type NewServer, type Reference } from "./server-text.ts";
import { readIfThere, writeAtomically } from "./write-atomically.ts";

export type ConfigFile = {
  readonly path: string;
  /** Secrets and relative paths start here. */
  readonly folder: string;
  readonly isNew: boolean;
  readonly text: string;
  /** Of the servers that stand in it. */
  readonly ids: ReadonlySet<string>;
  /** Whether the server of that id is started or reached as this one is. */
  readonly isSame: (id: string, server: Omit<NewServer, "id">) => boolean;
  /** The same by their places; "" for one without. */
  readonly order: readonly string[];
  /** What stands before the dot in the names of their tools. */
  readonly segments: ReadonlySet<string>;
  /** Where the gateway listens, as the environment or else the file says it. */
  readonly listen: string;
  readonly env: Environment;
};

const DEFAULT_LISTEN = gatewaySchema.parse({}).listen;

/** The file that `up` would read, else a new `isthmus.toml` here. Throws Ending when it is no TOML. */
export function openConfigFile(flags: { readonly config?: string }): ConfigFile {
  const { files, env } = new ConfigSource(flags, process.argv[1] ?? "");
  return openFile(resolve(files[0] ?? "isthmus.toml"), env);
}

/** The file that has the table of a server, of all that `up` would read; undefined: none of them. Throws Ending. */
export function findConfigFile(flags: { readonly config?: string }, server: string): ConfigFile | undefined {
  const { files, env } = new ConfigSource(flags, process.argv[1] ?? "");
  return files.map((path) => openFile(resolve(path), env)).find(({ ids }) => ids.has(server));
}

function openFile(path: string, env: Environment): ConfigFile {
  const bytes = readIfThere(path);
  const { table } = parse(path, bytes ?? Buffer.alloc(0));
  const servers = objectsIn(table.servers).map(({ id, prefix }) => ({ id: textOf(id) ?? "", prefix: textOf(prefix) }));
  return {
    path,
    folder: dirname(path),
    isNew: bytes === undefined,
    text: bytes?.toString("utf8") ?? "",
    ids: new Set(servers.map(({ id }) => id)),
    isSame: (id, server) => objectsIn(table.servers).some((one) => one.id === id && isSameServer(one, server)),
    order: servers.map(({ id }) => id),
    segments: new Set(servers.map(segmentFor)),
    listen: env.ISTHMUS_LISTEN || (textOf(objectOf(table.gateway).listen) ?? DEFAULT_LISTEN),
    env,
  };
}

/** The text with these servers, checked as a whole. Throws Ending with every problem. */
export function textWith(file: ConfigFile, servers: readonly NewServer[]): string {
  check(file, appendServers(file.text, servers.map(withoutFiles)));
  return appendServers(file.text, servers);
}

/** Throws Ending with every problem of a text that would take the place of the file's. A secret that is not set in this shell is none. */
export function check(file: ConfigFile, text: string): void {
  const { table, text: plain } = parse(file.path, Buffer.from(text));
  const lineOf = findTomlLines(plain);
  const originOf = (path: KeyPath) => ({ file: file.path, folder: file.folder, rank: 0, line: lineOf(path) });
  try {
    loadConfig({ table, files: [file.path], originOf }, { env: file.env, allowsUnset: true });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new Ending("config", [...error.problems, "nothing was written"]);
  }
}

/** The files of new secrets are written once everything else is known to be right. */
function withoutFiles({ env = {}, headers = {}, ...server }: NewServer): NewServer {
  const plain = (table: Readonly<Record<string, Reference>>) =>
    Object.fromEntries(
      Object.entries(table).map(([key, value]) => [
        key,
        typeof value === "object" && "fromFile" in value ? "x" : value,
      ]),
    );
  return { ...server, env: plain(env), headers: plain(headers) };
}

export function writeConfigFile({ path, folder }: ConfigFile, text: string): void {
  writeAtomically({ file: path, project: folder }, text);
}

/** Which variables the servers name that are not set here: the gateway needs them, this command does not. */
export function unsetVariables(servers: readonly NewServer[], env: Environment): string[] {
  const references = servers.flatMap(({ env: own = {}, headers = {} }) => [
    ...Object.values(own),
    ...Object.values(headers),
  ]);
  const names = references.flatMap((value) => (typeof value === "object" && "fromEnv" in value ? value.fromEnv : []));
  return [...new Set(names)].filter((name) => env[name] === undefined);
}

function parse(path: string, bytes: Buffer): ReturnType<typeof parseToml> {
  try {
    return parseToml(bytes);
  } catch (error) {
    if (!(error instanceof TomlFault)) throw error;
    throw new Ending("config", [`${path}${error.place}: ${error.message}`]);
  }
}
