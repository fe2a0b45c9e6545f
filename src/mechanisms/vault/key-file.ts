/**
 * The keys of one machine, in a file of its own: a line each, the newest last, `base64 made-at`. Made when it is first
 * needed. A former key is worth nothing any more when everything it wrapped has expired.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { GatewayError, type KeyProvider, makePrivateFolder } from "../../contract/index.ts";
import { MAX_TOKEN_MS } from "./token-vault.ts";
import { wrappingKeys } from "./wrapping-keys.ts";

const KEY_BYTES = 32;
const OWNER_ONLY = 0o600;
const LINE = /^([A-Za-z0-9+/]{43}=) (\d{1,15})$/;

type FileKey = { readonly secret: Buffer; readonly madeAt: number };

/** Resolves when the file is there and read. Rejects with a GatewayError that says what is wrong with it. */
export async function openKeyFile(path: string, now: () => number = Date.now): Promise<KeyProvider> {
  makePrivateFolder(dirname(path));
  if (!(await exists(path))) await writeKeys(path, [freshKey(now())], link);
  let read = await readKeys(path, now());
  let { mtimeMs } = await stat(path);
  /** Another process may have added a key. */
  const current = async (): Promise<KeyProvider> => {
    const { mtimeMs: seen } = await stat(path);
    if (seen !== mtimeMs) [read, mtimeMs] = [await readKeys(path, now()), seen];
    return read;
  };
  return {
    get id() {
      return read.id;
    },
    wrap: async (dataKey) => (await current()).wrap(dataKey),
    unwrap: async (keyId, wrapped) => (await current()).unwrap(keyId, wrapped),
  };
}

/** Adds a key with which everything is written from now on; resolves to how many the file holds. */
export async function rotateKeyFile(path: string, now: () => number = Date.now): Promise<number> {
  const former = (await exists(path)) ? await readLines(path) : [];
  const keys = [...worthKeeping(former, now()), freshKey(now())];
  await writeKeys(path, keys, rename);
  return keys.length;
}

function freshKey(madeAt: number): FileKey {
  return { secret: randomBytes(KEY_BYTES), madeAt: Math.round(madeAt) };
}

/** Never half a file: it is written under another name first. `link` keeps what another process has made meanwhile. */
async function writeKeys(path: string, keys: readonly FileKey[], settle: typeof link | typeof rename): Promise<void> {
  const text = keys.map(({ secret, madeAt }) => `${secret.toString("base64")} ${madeAt}\n`).join("");
  const fresh = `${path}.${randomUUID()}.new`;
  try {
    const file = await open(fresh, "wx", OWNER_ONLY);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await settle(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw unusable(path, "cannot be written", error);
  } finally {
    await rm(fresh, { force: true });
  }
}

async function readKeys(path: string, now: number): Promise<KeyProvider> {
  const { mode } = await stat(path);
  if (process.platform !== "win32" && (mode & 0o077) !== 0)
    throw unusable(path, "can be read by others; make it yours alone with chmod 600");
  const newestFirst = worthKeeping(await readLines(path), now)
    .map(({ secret }) => secret)
    .reverse();
  const [newest, ...older] = newestFirst;
  if (!newest) throw unusable(path, "holds no key");
  return wrappingKeys([newest, ...older]);
}

async function readLines(path: string): Promise<FileKey[]> {
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const [, secret, madeAt] = LINE.exec(line) ?? [];
    if (secret === undefined) throw unusable(path, "holds a line that is no key");
    return { secret: Buffer.from(secret, "base64"), madeAt: Number(madeAt) };
  });
}

/** A key was in use until the next one was made, and what it wrapped lives no longer than a token may. */
function worthKeeping(keys: readonly FileKey[], now: number): FileKey[] {
  return keys.filter((_, index) => (keys[index + 1]?.madeAt ?? now) + MAX_TOKEN_MS > now);
}

function unusable(path: string, why: string, cause?: unknown): GatewayError {
  return new GatewayError("STATE_UNAVAILABLE", { message: `The key file ${path} ${why}.`, cause });
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
