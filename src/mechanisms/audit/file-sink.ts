/** Events in a file, one a line, for whatever reads files. When it is full it gets a number, and the oldest one goes. */
import { closeSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { type Log, type Meter, makePrivateFolder } from "../../contract/index.ts";
import type { AuditSink } from "./audit-sink.ts";

export type FileSinkOptions = {
  readonly file: string;
  readonly maxBytes: number;
  /** Full ones that are kept beside it. */
  readonly keep: number;
  readonly log: Log;
  readonly meter: Meter;
};

export class FileSink implements AuditSink {
  readonly #options: FileSinkOptions;
  #open: { readonly handle: number; bytes: number } | undefined;
  #hasFailed = false;

  constructor(options: FileSinkOptions) {
    this.#options = options;
  }

  take(lines: string): void {
    const { file, maxBytes, log, meter } = this.#options;
    const text = `${lines}\n`;
    try {
      if (this.#open && this.#open.bytes > 0 && this.#open.bytes + text.length > maxBytes) this.#rotate();
      this.#open ??= openFile(file);
      this.#open.bytes += writeSync(this.#open.handle, text);
      this.#hasFailed = false;
    } catch (cause) {
      meter.count("isthmus_audit_dropped_total", "file");
      // Once per outage: the counter tells the rest.
      if (!this.#hasFailed) log.warn("audit events could not be written to their file", { file, cause });
      this.#hasFailed = true;
    }
  }

  async close(): Promise<void> {
    if (this.#open) closeSync(this.#open.handle);
    this.#open = undefined;
  }

  #rotate(): void {
    const { file, keep } = this.#options;
    if (this.#open) closeSync(this.#open.handle);
    this.#open = undefined;
    rmSync(`${file}.${keep}`, { force: true });
    for (let number = keep - 1; number >= 0; number--) {
      const from = number === 0 ? file : `${file}.${number}`;
      if (statSync(from, { throwIfNoEntry: false })) renameSync(from, `${file}.${number + 1}`);
    }
    if (keep === 0) rmSync(`${file}.1`, { force: true });
  }
}

function openFile(file: string): { handle: number; bytes: number } {
  makePrivateFolder(dirname(file));
  const handle = openSync(file, "a", 0o600);
  return { handle, bytes: statSync(file).size };
}
