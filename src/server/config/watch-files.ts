/**
 * Tells when files have changed, however they were written: in place, by renaming another file over them, or by turning
 * a symbolic link elsewhere, as Kubernetes does. The system's own notices make it quick, looking again every 2 s makes
 * it sure: network file systems give no notices.
 */
import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname } from "node:path";
import type { Timer, Timers } from "../../contract/index.ts";

export type WatchOptions = {
  readonly timers: Timers;
  /** What to watch now, also what is not there yet. */
  readonly files: () => readonly string[];
  readonly onChange: () => void;
};

const POLL_MS = 2_000;
/** A file counts as written when it stays the same for this long. */
const QUIET_MS = 100;
const MAX_FOLDERS = 64;

export class FileWatch {
  readonly #options: WatchOptions;
  readonly #folders = new Map<string, FSWatcher>();
  #known: ReadonlyMap<string, string>;
  /** What was seen last time, when it differed from what is known. */
  #pending: string | undefined;
  #soon: Timer | undefined;
  #poll: Timer | undefined;
  #isClosed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#known = printsOf(options.files());
    // Not at once: what changes meanwhile is seen by this look, and to load what notices need is 3 ms of a start.
    this.#soon = options.timers.after(QUIET_MS, () => {
      this.#soon = undefined;
      this.#watchFolders();
      this.#look();
    });
    this.#schedulePoll();
  }

  /** Other files may be watched from now on; those that were watched before are compared with what was known. */
  refresh(): void {
    const files = this.#options.files();
    const fresh = printsOf(files.filter((file) => !this.#known.has(file)));
    this.#known = new Map(files.map((file) => [file, this.#known.get(file) ?? fresh.get(file) ?? ""]));
    this.#watchFolders();
  }

  close(): void {
    this.#isClosed = true;
    this.#soon?.cancel();
    this.#poll?.cancel();
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  #schedulePoll(): void {
    this.#poll = this.#options.timers.after(POLL_MS, () => {
      this.#schedulePoll();
      this.#look();
    });
  }

  #lookSoon(): void {
    if (this.#isClosed) return;
    this.#soon ??= this.#options.timers.after(QUIET_MS, () => {
      this.#soon = undefined;
      this.#look();
    });
  }

  #look(): void {
    const prints = printsOf([...this.#known.keys()]);
    const now = textOf(prints);
    if (now === textOf(this.#known)) {
      this.#pending = undefined;
      return;
    }
    if (now !== this.#pending) {
      this.#pending = now;
      this.#lookSoon();
      return;
    }
    this.#pending = undefined;
    this.#known = prints;
    this.#options.onChange();
  }

  #watchFolders(): void {
    const folders = new Set([...this.#known.keys()].map((file) => dirname(file)));
    for (const [folder, watcher] of this.#folders) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const folder of folders) if (!this.#folders.has(folder)) this.#watchFolder(folder);
  }

  /** A folder that cannot be watched, or is gone, is looked at by the poll alone. */
  #watchFolder(folder: string): void {
    if (this.#folders.size >= MAX_FOLDERS) return;
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#lookSoon());
      watcher.on("error", () => {
        watcher.close();
        this.#folders.delete(folder);
      });
      this.#folders.set(folder, watcher);
    } catch {
      this.#folders.delete(folder);
    }
  }
}

/** What tells one state of a file from another, by its path; links are followed. */
function printsOf(files: readonly string[]): Map<string, string> {
  return new Map(files.map((file) => [file, printOf(file)]));
}

function printOf(file: string): string {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats ? `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : "none";
  } catch {
    return "unreadable";
  }
}

function textOf(prints: ReadonlyMap<string, string>): string {
  return [...prints].map(([file, print]) => `${file}\0${print}`).join("\0");
}
