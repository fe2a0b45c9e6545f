/** Reads the found files into one raw table. Servers of a nearer file replace those of the same id in a farther one. */
import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { parse, TomlError } from "smol-toml";
import type { RawServer } from "./check-servers.ts";
import { ConfigError } from "./config-error.ts";

export type RawConfig = {
  readonly table: Record<string, unknown>;
  /** The folder of the file that each server stands in, by its place in `table.servers`. */
  readonly folders: readonly string[];
  /** The folder of the file that names the seal key. */
  readonly sealKeyFolder?: string;
};

/** Throws ConfigError when a file cannot be read or is not TOML. `files`: nearest first. */
export function readConfig(files: readonly string[]): RawConfig {
  const tables = files.map((file) => ({ folder: dirname(file), table: parseToml(file) }));
  const gateway = tables
    .toReversed()
    .reduce<unknown>((below, { table }) => mergeTables(below, table.gateway), undefined);
  const others = Object.assign({}, ...tables.map(({ table }) => table).toReversed());
  const servers: { server: unknown; folder: string }[] = [];
  const nearer = new Set<unknown>();
  for (const { table, folder } of tables) {
    const own = Array.isArray(table.servers) ? table.servers : [];
    const added = own.filter((server) => !nearer.has((server as RawServer).id));
    for (const server of added) servers.push({ server, folder });
    for (const server of added) nearer.add((server as RawServer).id);
  }
  const table: Record<string, unknown> = { ...others };
  if (gateway !== undefined) table.gateway = gateway;
  if (servers.length > 0) table.servers = servers.map(({ server }) => server);
  const sealKeyFolder = tables.find(({ table: { gateway: own } }) => (own as { sealKey?: unknown })?.sealKey)?.folder;
  const folders = servers.map(({ folder }) => folder);
  return { table, folders, ...(sealKeyFolder !== undefined && { sealKeyFolder }) };
}

function mergeTables(below: unknown, above: unknown): unknown {
  const isTable = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
  return isTable(below) && isTable(above) ? { ...(below as object), ...(above as object) } : (above ?? below);
}

function parseToml(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError([`${file}: the file cannot be read (${(error as NodeJS.ErrnoException).code})`]);
  }
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = "not TOML"] = error.message.split("\n");
    throw new ConfigError([
      `${basename(file)}:${error.line}:${error.column}: ${reason.replace("Invalid TOML document: ", "")}`,
    ]);
  }
}
