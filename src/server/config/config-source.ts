/** Where the config of this process comes from, and what to watch to learn that it has changed. */
import type { LogLevel } from "../log-level.ts";
import type { Config } from "./config.ts";
import { type Environment, type FoundConfig, findConfig } from "./find-config.ts";
import { loadConfig } from "./load-config.ts";
import { type RawConfig, readConfig } from "./read-config.ts";

export type ConfigFlags = {
  readonly config?: string;
  readonly listen?: string;
  readonly logLevel?: LogLevel;
  readonly database?: string;
  readonly shared?: string;
};

/** Tables beside those of the files, each with its id. */
export type AddedTables = { readonly servers: readonly Tabled[]; readonly catalogs: readonly Tabled[] };
type Tabled = { readonly id: string };

export class ConfigSource {
  /** What operators have added while the gateway runs. Where a file has a table of the same id, the file's counts. */
  added: AddedTables = { servers: [], catalogs: [] };
  /** Of this process. Nothing outside this folder reads it by itself. */
  readonly env: Environment = process.env;
  readonly #flags: ConfigFlags;
  readonly #program: string;
  #found: FoundConfig;
  #secretFiles = new Set<string>();

  /** `program` is the file this process runs: the demo starts it again as its server. */
  constructor(flags: ConfigFlags, program: string) {
    this.#flags = flags;
    this.#program = program;
    this.#found = this.#find();
  }

  /** The files it is made of, nearest first; none: it is the demo. */
  get files(): readonly string[] {
    return this.#found.files;
  }

  /** Every place that was looked at, in order. */
  get looked(): readonly string[] {
    return this.#found.looked;
  }

  /** The places of the config, also those where nothing is yet, and the files of its secrets as last read. */
  get watched(): readonly string[] {
    return [...this.#found.looked, ...this.#secretFiles];
  }

  /** Throws ConfigError. `running`: the config in force, which the new one must be able to follow. */
  read(running?: Config, added = this.added): Config {
    if (running) this.#findAgain();
    const secretFiles = new Set<string>();
    this.#secretFiles = secretFiles;
    const { listen = this.env.ISTHMUS_LISTEN, logLevel, database, shared } = this.#flags;
    const raw = this.files.length > 0 ? readConfig(this.files) : this.#demo();
    return loadConfig(withAdded(raw, added), {
      env: this.env,
      flags: {
        ...(listen && { listen }),
        ...(logLevel && { logLevel }),
        ...(database && { database }),
        ...(shared && { shared }),
      },
      running,
      onFile: (file) => secretFiles.add(file),
    });
  }

  #find(): FoundConfig {
    const { config } = this.#flags;
    return findConfig({ folder: process.cwd(), env: this.env, ...(config && { file: config }) });
  }

  /**
   * A file that was chosen stays chosen: while an editor replaces it, there is none for a moment, and that must not
   * mean another config. Only MGP's pair and the demo look again.
   */
  #findAgain(): void {
    const isChosen = this.looked.length === 1;
    const found = isChosen ? undefined : this.#find();
    if (found && (found.files.length > 0 || this.files.length === 0)) this.#found = found;
  }

  #demo(): RawConfig {
    const server = { id: "demo", command: process.execPath, args: [this.#program, "demo-server"] };
    // Nobody is kept waiting: the first run makes a call that must be approved, and goes on.
    const gate = { hold: "100ms", anchors: [{ file: "~/.config/isthmus/operator.pub" }] };
    return { table: { servers: [server], gate }, originOf: () => undefined, files: [] };
  }
}

function withAdded(raw: RawConfig, added: AddedTables): RawConfig {
  if (added.servers.length === 0 && added.catalogs.length === 0) return raw;
  const { servers, catalogs } = raw.table;
  return {
    ...raw,
    table: { ...raw.table, servers: joined(servers, added.servers), catalogs: joined(catalogs, added.catalogs) },
  };
}

/** Something else in the place of a list stays, so that the schema speaks about it. */
function joined(written: unknown = [], added: readonly Tabled[]): unknown {
  if (!Array.isArray(written)) return written;
  const ids = new Set(written.map((table: { readonly id?: unknown } | null) => table?.id));
  return [...written, ...added.filter(({ id }) => !ids.has(id))];
}
