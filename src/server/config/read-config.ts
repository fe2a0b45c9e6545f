/** Reads the found files into one raw table. Tables of a nearer file replace those of the same id in a farther one. */
import { dirname, relative } from "node:path";
import { ConfigError } from "./config-error.ts";
import { parseToml, TomlFault } from "./parse-toml.ts";
import { type Origin, onOneLine, valueAt } from "./problem.ts";
import { FileFault, readBounded } from "./read-bounded.ts";
import { findTomlLines, type KeyPath } from "./toml-lines.ts";

export type RawConfig = {
  readonly table: Record<string, unknown>;
  /** Where a path of `table` is written; undefined when no file says anything about it. */
  readonly originOf: (path: KeyPath) => Origin | undefined;
  /** The files it was made of. */
  readonly files: readonly string[];
};

type Source = {
  readonly file: string;
  readonly rank: number;
  readonly table: Record<string, unknown>;
  /** Looked for only when something is wrong. */
  readonly lineOf: (path: KeyPath) => number | undefined;
};

/** A table in a list of tables, with where it came from. */
type Listed = { readonly value: unknown; readonly source: Source; readonly index: number };

const MAX_BYTES = 1024 * 1024;

/** Lists of tables that have an id and are put together by it. */
const LISTS: readonly string[] = ["servers", "catalogs"];

/** Throws ConfigError when a file cannot be read or is not TOML. `files`: nearest first. */
export function readConfig(files: readonly string[], parse = parseToml): RawConfig {
  const sources = readSources(files, parse);
  const table: Record<string, unknown> = Object.assign({}, ...sources.map((source) => source.table).toReversed());
  const gateway = sources
    .toReversed()
    .reduce<unknown>((below, source) => mergeTables(below, source.table.gateway), undefined);
  if (gateway !== undefined) table.gateway = gateway;
  const lists = new Map<PropertyKey, readonly Listed[]>();
  for (const name of LISTS) {
    const values = sources.map((source) => source.table[name]).filter((value) => value !== undefined);
    const wrong = values.find((value) => !Array.isArray(value));
    // Something else in the place of a list is kept: the schema speaks about it.
    if (wrong !== undefined) table[name] = wrong;
    if (wrong !== undefined || values.length === 0) continue;
    const listed = mergeLists(sources, name);
    lists.set(name, listed);
    table[name] = listed.map(({ value }) => value);
  }
  return { table, originOf: (path) => findOrigin(path, table, sources, lists), files };
}

function readSources(files: readonly string[], parse: typeof parseToml): Source[] {
  const problems: string[] = [];
  const sources: Source[] = [];
  for (const [rank, file] of files.entries()) {
    try {
      const { table, text } = parse(readBounded(file, MAX_BYTES));
      let lineOf: Source["lineOf"] | undefined;
      sources.push({
        file,
        rank,
        table,
        lineOf: (path) => {
          lineOf ??= findTomlLines(text);
          return lineOf(path);
        },
      });
    } catch (error) {
      problems.push(onOneLine(describeFault(file, error)));
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return sources;
}

function describeFault(file: string, error: unknown): string {
  if (error instanceof FileFault)
    return `${shownName(file)}: ${error.isMissing ? "there is no such file" : `the file ${error.message}`}`;
  if (error instanceof TomlFault) return `${shownName(file)}${error.place}: ${error.message}`;
  throw error;
}

/** Short where the file lies below the folder in which the program runs. */
function shownName(file: string): string {
  const path = relative(process.cwd(), file);
  return path === "" || path.startsWith("..") ? file : path;
}

function mergeLists(sources: readonly Source[], name: string): Listed[] {
  const nearer = new Set<unknown>();
  const merged: Listed[] = [];
  for (const source of sources) {
    const own = source.table[name];
    const added = (Array.isArray(own) ? own : [])
      .map((value: unknown, index): Listed => ({ value, source, index }))
      .filter(({ value }) => !nearer.has(idOf(value)));
    merged.push(...added);
    for (const { value } of added) if (idOf(value) !== undefined) nearer.add(idOf(value));
  }
  return merged;
}

function idOf(value: unknown): unknown {
  return valueAt(value, ["id"]);
}

function mergeTables(below: unknown, above: unknown): unknown {
  const isTable = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
  return isTable(below) && isTable(above) ? { ...(below as object), ...(above as object) } : (above ?? below);
}

function findOrigin(
  path: KeyPath,
  merged: unknown,
  sources: readonly Source[],
  lists: ReadonlyMap<PropertyKey, readonly Listed[]>,
): Origin | undefined {
  const [name = "", index] = path;
  const listed = typeof index === "number" ? lists.get(name)?.[index] : undefined;
  if (listed) return originIn(listed.source, [name, listed.index, ...path.slice(2)]);
  for (let length = path.length; length > 0; length--) {
    const part = path.slice(0, length);
    const having = sources.filter(({ table }) => valueAt(table, part) !== undefined);
    const found = having.find(({ table }) => valueAt(table, part) === valueAt(merged, part)) ?? having[0];
    if (found) return originIn(found, path);
  }
  return undefined;
}

function originIn(source: Source, path: KeyPath): Origin {
  const { file, rank } = source;
  // A getter: most origins are asked for their folder only.
  return {
    file: shownName(file),
    folder: dirname(file),
    rank,
    get line() {
      return source.lineOf(path);
    },
  };
}
