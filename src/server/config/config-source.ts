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

export class ConfigSource {
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
  read(running?: Config): Config {
    if (running) this.#findAgain();
    const secretFiles = new Set<string>();
    this.#secretFiles = secretFiles;
    const { listen = this.env.ISTHMUS_LISTEN, logLevel, database, shared } = this.#flags;
    return loadConfig(this.files.length > 0 ? readConfig(this.files) : this.#demo(), {
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
    return { table: { servers: [server] }, originOf: () => undefined, files: [] };
  }
}
