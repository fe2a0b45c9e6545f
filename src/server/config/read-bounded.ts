/** Reads small files that an operator names: never a directory, a pipe that nobody writes to, or an endless device. */
import { closeSync, openSync, readSync, statSync } from "node:fs";

/** Why a file was not read, as the end of a sentence about it. */
export class FileFault extends Error {
  override readonly name = "FileFault";
  /** There is none. */
  readonly isMissing: boolean;

  constructor(message: string, isMissing = false) {
    super(message);
    this.isMissing = isMissing;
  }
}

/** Throws FileFault. */
export function readBounded(file: string, maxBytes: number): Buffer {
  let handle: number | undefined;
  try {
    const stats = statSync(file);
    if (stats.isDirectory()) throw new FileFault("is a directory");
    if (!stats.isFile()) throw new FileFault("is no regular file");
    handle = openSync(file, "r");
    const bytes = readUpTo(handle, maxBytes + 1);
    if (bytes.length > maxBytes) throw new FileFault(`is larger than ${maxBytes / 1024} KiB`);
    return bytes;
  } catch (error) {
    if (error instanceof FileFault) throw error;
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    throw new FileFault(`cannot be read (${code})`, code === "ENOENT");
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

// The size that the system tells is not trusted: a file may grow while it is read, and some say 0.
function readUpTo(handle: number, most: number): Buffer {
  const parts: Buffer[] = [];
  let total = 0;
  while (total < most) {
    const part = Buffer.alloc(Math.min(64 * 1024, most - total));
    const count = readSync(handle, part);
    if (count === 0) break;
    parts.push(part.subarray(0, count));
    total += count;
  }
  return Buffer.concat(parts);
}
