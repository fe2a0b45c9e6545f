import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type BlobBytes, faultPoint, GatewayError, isBlobId, makePrivateFolder } from "../../contract/index.ts";

/** Of a file that is not whole yet. */
const PART = ".part";

/** One file per blob, in folders named after the first two characters of the id, so that none becomes too large to list. */
export class FileBlobBytes implements BlobBytes {
  readonly #folder: string;

  /** The folder is made with the first blob. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async write(id: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { folder, file, part } = this.#placeOf(id);
    await guarded(() => this.#makeFolder(folder));
    try {
      await writeSynced(part, chunks);
      faultPoint("blobs.file.renaming");
      await guarded(() => rename(part, file));
      await guarded(() => syncFolder(folder));
    } catch (error) {
      await this.drop(id).catch(() => undefined);
      throw error;
    }
    faultPoint("blobs.bytes.written");
  }

  async read(id: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const { file } = this.#placeOf(id);
    try {
      await stat(file);
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw unavailable(error);
    }
    return readFrom(file);
  }

  async drop(id: string): Promise<void> {
    const { file, part } = this.#placeOf(id);
    await guarded(() => Promise.all([rm(file, { force: true }), rm(part, { force: true })]));
  }

  async older(ageMs: number, limit: number, after = ""): Promise<readonly string[]> {
    const found: string[] = [];
    for (const group of await list(this.#folder)) {
      if (group < after.slice(0, 2)) continue;
      const folder = join(this.#folder, group);
      for (const name of await list(folder)) {
        const id = name.replace(PART, "");
        if (!isBlobId(id) || id <= after || found.at(-1) === id) continue;
        if ((await ageOf(join(folder, name))) >= ageMs) found.push(id);
        if (found.length >= limit) return found;
      }
    }
    return found;
  }

  /** An id that is none could name a file anywhere. */
  #placeOf(id: string): { folder: string; file: string; part: string } {
    if (!isBlobId(id)) throw new GatewayError("BAD_CALL", { message: "That is not the id of a blob." });
    const folder = join(this.#folder, id.slice(0, 2));
    const file = join(folder, id);
    return { folder, file, part: file + PART };
  }

  async #makeFolder(folder: string): Promise<void> {
    const made = makePrivateFolder(folder);
    if (made === undefined) return;
    await syncFolder(this.#folder);
    await syncFolder(dirname(made));
  }
}

async function writeSynced(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await guarded(() => open(path, "wx", 0o600));
  try {
    // What the source throws is passed on as it is: only the disk's failures are ours to word.
    for await (const chunk of chunks) await guarded(() => file.writeFile(chunk));
    await guarded(() => file.sync());
  } finally {
    await file.close();
  }
}

/** Opened when the first chunk is asked for: whoever never asks leaves nothing open. */
async function* readFrom(path: string): AsyncGenerator<Uint8Array> {
  const file = await guarded(() => open(path));
  try {
    yield* file.createReadStream({ autoClose: false });
  } finally {
    await file.close();
  }
}

/** A new name is safe only when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function list(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (isAbsent(error)) return [];
    throw unavailable(error);
  }
}

/** -1: it has gone meanwhile. */
async function ageOf(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => -1,
  );
}

async function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw unavailable(error);
  }
}

function unavailable(cause: unknown): GatewayError {
  return GatewayError.is(cause) ? cause : new GatewayError("STATE_UNAVAILABLE", { details: { store: "blobs" }, cause });
}

function isAbsent(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT";
}
