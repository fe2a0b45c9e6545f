import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openEnvelope, sealEnvelope } from "./envelope.ts";
import { openKeyFile, rotateKeyFile } from "./key-file.ts";
import { MAX_TOKEN_MS } from "./token-vault.ts";

let folder = "";
let path = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isthmus-keys-"));
  path = join(folder, "state", "vault.keys");
});

afterEach(() => rm(folder, { recursive: true }));

describe("openKeyFile", () => {
  test("makes the file when it is first needed, for its owner alone, and leaves nothing beside it", async () => {
    const { id } = await openKeyFile(path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, "state"))).toEqual(["vault.keys"]);
    expect((await openKeyFile(path)).id).toBe(id);
    expect(await readFile(path, "utf8")).not.toContain(id);
  });

  test("many that come at once have the same key", async () => {
    const opened = await Promise.all(Array.from({ length: 5 }, () => openKeyFile(path)));
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
  });

  test("[AP-134] [AP-135] writes with a new key as soon as there is one, and reads what the former one wrote", async () => {
    const keys = await openKeyFile(path);
    const old = await sealEnvelope(keys, "text", "bound");
    expect(await rotateKeyFile(path)).toBe(2);
    const next = await sealEnvelope(keys, "text", "bound");
    expect(next.keyId).not.toBe(old.keyId);
    expect(await openEnvelope(keys, old, "bound")).toBe("text");
    expect(await openEnvelope(keys, next, "bound")).toBe("text");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("[AP-137] forgets a key when everything that it wrote has expired", async () => {
    const keys = await openKeyFile(path, () => 0);
    const old = await sealEnvelope(keys, "text", "bound");
    await rotateKeyFile(path, () => 1000);
    const before = await openKeyFile(path, () => 1000 + MAX_TOKEN_MS - 1);
    expect(await openEnvelope(before, old, "bound")).toBe("text");
    const after = await openKeyFile(path, () => 1000 + MAX_TOKEN_MS);
    expect(await openEnvelope(after, old, "bound")).toBeUndefined();
    expect(await rotateKeyFile(path, () => 1000 + MAX_TOKEN_MS)).toBe(2);
  });

  test("refuses a file that others can read, or that holds something else, and never says what it holds", async () => {
    await openKeyFile(path);
    await chmod(path, 0o644);
    await expect(openKeyFile(path)).rejects.toThrow("chmod 600");
    await writeFile(path, "hunter2\n");
    await chmod(path, 0o600);
    const refused = await openKeyFile(path).catch(String);
    expect(refused).toContain("no key");
    expect(refused).not.toContain("hunter2");
    await writeFile(path, "");
    await expect(openKeyFile(path)).rejects.toThrow("holds no key");
  });
});
