/** Takes over the config whenever its files change or somebody asks. A config that cannot be used changes nothing. */
import type { Log, Meter, Timers } from "../contract/index.ts";
import { type Config, ConfigError, type ConfigSource } from "./config/index.ts";
import { FileWatch } from "./config/watch-files.ts";
import type { ConfigChange, Gateway } from "./gateway-types.ts";

export type FollowOptions = {
  readonly gateway: Pick<Gateway, "config" | "apply">;
  readonly source: Pick<ConfigSource, "read" | "watched">;
  readonly log: Log;
  readonly meter: Meter;
  readonly timers: Timers;
  /** Looks at the files of a config before it is taken over. Throws ConfigError. */
  readonly inspect?: ((config: Config) => void) | undefined;
  /** Hears of every config that was taken over. */
  readonly onTaken?: (change: ConfigChange) => void;
};

export class ConfigFollower {
  readonly #options: FollowOptions;
  readonly #watch: FileWatch;
  #running: Promise<void> | undefined;
  #isWanted = false;
  #isClosed = false;
  /** What is on disk was refused. */
  isStale = false;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#watch = new FileWatch({
      timers: options.timers,
      files: () => options.source.watched,
      onChange: () => void this.reload(),
    });
  }

  /** Resolves when what is on disk now has been taken over or refused. One at a time: the last one counts. */
  reload(): Promise<void> {
    this.#isWanted = true;
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isWanted && !this.#isClosed) {
      this.#isWanted = false;
      await this.#reloadOnce();
    }
    this.#running = undefined;
  }

  async #reloadOnce(): Promise<void> {
    const { gateway, source, log, meter } = this.#options;
    try {
      const next = source.read(gateway.config);
      this.#options.inspect?.(next);
      const change = gateway.apply(next);
      const { settled, added, changed, removed, settings } = change;
      const wasRefused = this.isStale;
      this.isStale = false;
      meter.count("isthmus_config_reloads_total", "ok");
      log.info("config taken over", { added, changed, removed, settings, ...(wasRefused && { wasRefused }) });
      this.#watch.refresh();
      this.#options.onTaken?.(change);
      await settled;
    } catch (error) {
      this.#watch.refresh();
      this.isStale = true;
      meter.count("isthmus_config_reloads_total", "refused");
      // One line with everything: whoever edits the file looks for it here.
      if (error instanceof ConfigError) log.error("config refused, the old one stays", { problems: error.problems });
      else log.error("config refused, the old one stays", { cause: error });
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#watch.close();
  }
}
