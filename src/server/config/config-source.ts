/** Where the config of this process comes from, and what to watch to learn that it has changed. */
import type { LogLevel } from "../log-level.ts";
import type { AddedTables } from "./added-tables.ts";
import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { type Environment, type FoundConfig, findConfig } from "./find-config.ts";
import { type GatewayPlace, type GivenListen, placeIn, placeLeftIn } from "./gateway-place.ts";
import { loadConfig } from "./load-config.ts";
import { parsePieces } from "./parse-pieces.ts";
import { type PinPlace, pinPlaceIn } from "./pin-place.ts";
import { type RawConfig, readConfig } from "./read-config.ts";

export type ConfigFlags = {
  readonly config?: string;
  readonly listen?: string;
  readonly logLevel?: LogLevel;
  readonly database?: string;
  readonly shared?: string;
};

/** A file that the config names: with a private key, another secret, or what is believed and no secret. */
export type NamedFile = { readonly file: string; readonly holds: "key" | "secret" | "trust" };

export class ConfigSource {
  /** What operators have added while the gateway runs. Where a file has a table of the same id, the file's counts. */
  added: AddedTables = { servers: [], catalogs: [] };
  /** Of this process. Nothing outside this folder reads it by itself. */
  readonly env: Environment = process.env;
  readonly #flags: ConfigFlags;
  readonly #program: string;
  #found: FoundConfig;
  #named = new Map<string, NamedFile>();

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
    return [...this.#found.looked, ...this.#named.keys()];
  }

  /** The files that it names, as last read. */
  get named(): readonly NamedFile[] {
    return [...this.#named.values()];
  }

  /** Throws ConfigError. `running`: the config in force, which the new one must be able to follow. */
  read(running?: Config, added = this.added): Config {
    if (running) this.#findAgain();
    const named = new Map<string, NamedFile>();
    this.#named = named;
    const { logLevel, database, shared } = this.#flags;
    const given = this.#givenListen();
    const raw = this.files.length > 0 ? readConfig(this.files) : this.#demo();
    return loadConfig(raw, {
      added,
      env: this.env,
      flags: {
        ...(given && { listen: given.listen }),
        ...(logLevel && { logLevel }),
        ...(database && { database }),
        ...(shared && { shared }),
      },
      listenName: given?.by,
      running,
      onFile: (file, path) => named.set(file, { file, holds: holdingOf(path.join(".")) }),
    });
  }

  /**
   * Where its gateway is, without a look at anything else. A file that broke after the gateway was started is nothing to those
   * who only ask it something. Throws ConfigError where there is no such file, or the address that a flag or the environment names is none.
   */
  place(): GatewayPlace {
    const given = this.#givenListen();
    if (this.files.length === 0) return placeIn(this.#demo(), given);
    const { files } = this;
    try {
      return { ...placeIn(readConfig(files), given), files };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { ...placeLeftIn(readConfig(files, parsePieces), given), files, problems: error.problems };
    }
  }

  /** Where its pins are. Throws ConfigError where that cannot be made out; what else is wrong does not matter. */
  pinPlace(): PinPlace {
    return pinPlaceIn(this.files.length > 0 ? readConfig(this.files) : this.#demo());
  }

  #givenListen(): GivenListen | undefined {
    const { listen } = this.#flags;
    if (listen) return { listen, by: "--listen" };
    const { ISTHMUS_LISTEN } = this.env;
    return ISTHMUS_LISTEN && listen === undefined ? { listen: ISTHMUS_LISTEN, by: "ISTHMUS_LISTEN" } : undefined;
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
    const gate = { hold: "100ms", evidence: "operator", anchors: [{ file: "~/.config/isthmus/operator.pub" }] };
    return { table: { servers: [server], gate }, originOf: () => undefined, files: [] };
  }
}

/** By the key that names it. */
function holdingOf(key: string): NamedFile["holds"] {
  if (/^(gateway\.(tls\.key|sealKey)|cluster\.key|vault\.keys\.\d+)$/.test(key)) return "key";
  return /^gateway\.tls\.(cert|clientCa)$/.test(key) ? "trust" : "secret";
}
