import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeBackupKey, readBackupKey } from "./backup-key.ts";

describe("the key of backups", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "isthmus-backup-key-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const file = () => join(folder, "deep", "import.key");

  test("is made once, for its owner alone, and not by looking for it", () => {
    expect(readBackupKey(file())).toBeUndefined();
    expect(existsSync(file())).toBe(false);
    const key = makeBackupKey(file());
    expect(key).toHaveLength(32);
    expect([makeBackupKey(file()), readBackupKey(file())]).toEqual([key, key]);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  test.skipIf(process.platform === "win32")("is not taken where others can read it, or it is none", () => {
    makeBackupKey(file());
    chmodSync(file(), 0o644);
    expect(() => readBackupKey(file())).toThrow(/can be read by everybody.*chmod 600/);
    chmodSync(file(), 0o600);
    writeFileSync(file(), "");
    expect(() => makeBackupKey(file())).toThrow(/is no key/);
  });
});
