/**
 * Where the book is kept. It is written to a new file that then takes the old one's place, under a lock, so that a
 * reader sees the one or the other and no writer's change is lost. A file that cannot be understood is left alone.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { open, rename, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makePrivateFolder } from "../../contract/index.ts";
import { PinBook, type PinChange } from "./pin-book.ts";
import { bookPieces, parseBook } from "./pin-text.ts";

/** What can be read as one text. The most that a server makes a book keep is less than a fifteenth of it. */
export const MAX_BYTES = 480 * 1024 * 1024;
const LOCK_POLL_MS = 25;
const LOCK_WAIT_MS = 2_000;
/** Whoever held it that long was killed. */
const LOCK_STALE_MS = 10_000;

const NO_FILE: readonly string[] = ["ENOENT", "ENOTDIR"];

/** Why the book was not read or written, as a sentence about the file. */
export class PinFileFault extends Error {
  override readonly name = "PinFileFault";
}

export type UpdatedBook = {
  readonly book: PinBook;
  /** Somebody else had written it since we last read or wrote it. */
  readonly isForeign: boolean;
};

export class PinFile {
  readonly path: string;
  #lastPrint = "";
  /** What we last read or wrote there was a book. */
  #isUnderstood = false;

  constructor(path: string) {
    this.path = path;
  }

  /** Whether it is not as we last read or wrote it. */
  get hasChanged(): boolean {
    return this.#print() !== this.#lastPrint;
  }

  /** Undefined: there is none yet. Throws PinFileFault. */
  read(): PinBook | undefined {
    const print = this.#print();
    const text = this.#readText();
    this.#lastPrint = print;
    this.#isUnderstood = false;
    if (text === undefined) return undefined;
    try {
      const book = parseBook(text);
      this.#isUnderstood = true;
      return book;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new PinFileFault(`${this.path} ${reason}; repair it, or delete it to pin everything anew`);
    }
  }

  /**
   * Makes these changes to what is on disk, and gives the book that is there now. `known`: what is there with these changes
   * made to it, as long as nobody else has written; and what to begin with where there is no file. Rejects with PinFileFault; the file is then as it was.
   */
  async update(changes: readonly PinChange[], known?: PinBook): Promise<UpdatedBook> {
    try {
      makePrivateFolder(dirname(this.path));
      const unlock = await this.#lock();
      try {
        const isForeign = this.hasChanged;
        const book = (isForeign || !this.#isUnderstood ? this.read() : undefined) ?? known ?? new PinBook();
        if (book !== known) for (const change of changes) change(book);
        await this.#write(bookPieces(book));
        this.#lastPrint = this.#print();
        this.#isUnderstood = true;
        return { book, isForeign };
      } finally {
        await unlock();
      }
    } catch (error) {
      if (error instanceof PinFileFault) throw error;
      throw new PinFileFault(`${this.path} cannot be written (${codeOf(error)})`);
    }
  }

  #readText(): string | undefined {
    let handle: number | undefined;
    try {
      handle = openSync(this.path, "r");
      const { size } = fstatSync(handle);
      if (size > MAX_BYTES) throw new PinFileFault(`${this.path} is larger than ${MAX_BYTES / 1024 / 1024} MiB`);
      const bytes = Buffer.alloc(size);
      let length = 0;
      for (let count = -1; count !== 0 && length < size; length += count) {
        count = readSync(handle, bytes, length, size - length, null);
      }
      return bytes.toString("utf8", 0, length);
    } catch (error) {
      if (error instanceof PinFileFault) throw error;
      if (NO_FILE.includes(codeOf(error))) return undefined;
      throw new PinFileFault(`${this.path} cannot be read (${codeOf(error)})`);
    } finally {
      if (handle !== undefined) closeSync(handle);
    }
  }

  async #write(pieces: Iterable<string>): Promise<void> {
    const draft = `${this.path}.${process.pid}.tmp`;
    try {
      // What a process of that number has left, or somebody else has put there, is not written to.
      await unlink(draft).catch(() => undefined);
      const handle = await open(draft, "wx", 0o600);
      try {
        let length = 0;
        for (const piece of pieces) {
          length += Buffer.byteLength(piece);
          if (length > MAX_BYTES) throw new PinFileFault(`${this.path} would be larger than it may be`);
          await handle.writeFile(piece);
        }
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, this.path);
    } catch (error) {
      await unlink(draft).catch(() => undefined); // it may never have been made
      throw error;
    }
  }

  /** Resolves with what gives it back. */
  async #lock(): Promise<() => Promise<void>> {
    const path = `${this.path}.lock`;
    const deadline = Date.now() + LOCK_WAIT_MS;
    for (;;) {
      try {
        const handle = await open(path, "wx", 0o600);
        await handle.close();
        return () => unlink(path).catch(() => undefined);
      } catch (error) {
        if (codeOf(error) !== "EEXIST") throw error;
      }
      const age = await stat(path).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      );
      if (age > LOCK_STALE_MS) await unlink(path).catch(() => undefined);
      else if (Date.now() > deadline)
        throw new PinFileFault(`${path} is held by another process; delete it if there is none`);
      else await sleep(LOCK_POLL_MS);
    }
  }

  #print(): string {
    try {
      const stats = statSync(this.path, { bigint: true, throwIfNoEntry: false });
      return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs}` : "none";
    } catch {
      return "unreadable";
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}
