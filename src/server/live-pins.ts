/** The pins of a gateway that runs: read when it starts, and again whenever `isthmus pin` or another gateway writes them. */
import { Pins } from "../mechanisms/pins/index.ts";
import type { Config } from "./config/index.ts";
import { FileWatch } from "./config/watch-files.ts";
import type { Ports } from "./extensions.ts";
import { pinFileOf } from "./pin-file-of.ts";

export type LivePinsOptions = Pick<Ports, "log" | "meter" | "timers"> & {
  /** What is in force. */
  readonly config: () => Config;
  /** Other verdicts are to be expected. */
  readonly onChange: () => void;
};

export class LivePins {
  readonly pins: Pins;
  readonly #options: LivePinsOptions;
  #watch: FileWatch | undefined;
  #path: string | undefined;

  constructor(options: LivePinsOptions) {
    this.#options = options;
    const { log, meter, timers, onChange, config } = options;
    const modeOf = (server: string) => config().servers.find(({ id }) => id === server)?.pin ?? "off";
    this.pins = new Pins({ log, meter, timers, modeOf, onChange });
  }

  /** Keeps them where the config says. Called before anything is offered, and with each config that is taken over. */
  open(): void {
    const file = pinFileOf(this.#options.config());
    if (file?.path === this.#path) return;
    this.#path = file?.path;
    this.#watch?.close();
    this.#watch = undefined;
    this.pins.keepIn(file);
    if (!file) return;
    this.#watch = new FileWatch({
      timers: this.#options.timers,
      files: () => [file.path],
      onChange: () => {
        // Its folder may not have been there before.
        this.#watch?.refresh();
        void this.pins.reload();
      },
    });
  }

  async close(): Promise<void> {
    this.#watch?.close();
    await this.pins.close();
  }
}
