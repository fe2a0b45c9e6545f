import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findBackup, replaceWithBackup, undo } from "./backup.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-backup-"));
  file = join(folder, "client.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

const now = new Date("2026-01-02T03:04:05.678Z");

describe("replaceWithBackup and undo", () => {
  test("bring back every byte and the permissions, and leave nothing behind", () => {
    writeFileSync(file, '{ "a": 1 }\r\n\t', { mode: 0o600 });
    const backup = replaceWithBackup(file, '{ "a": 1 }\r\n\t', "{}", now);
    expect(readFileSync(file, "utf8")).toBe("{}");
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(undo(file)).toEqual({ file, changedKept: undefined });
    expect(readFileSync(file, "utf8")).toBe('{ "a": 1 }\r\n\t');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["client.json"]);
  });

  test("keep a file that was changed since beside the old one", () => {
    writeFileSync(file, "old");
    replaceWithBackup(file, "old", "ours", now);
    writeFileSync(file, "theirs");
    const { changedKept = "" } = undo(file);
    expect(readFileSync(file, "utf8")).toBe("old");
    expect(readFileSync(changedKept, "utf8")).toBe("theirs");
  });

  test("bring back a file that was deleted since", () => {
    writeFileSync(file, "old");
    replaceWithBackup(file, "old", "ours", now);
    rmSync(file);
    expect(undo(file).changedKept).toBeUndefined();
    expect(readFileSync(file, "utf8")).toBe("old");
  });

  test("undo the last one first", () => {
    writeFileSync(file, "one");
    replaceWithBackup(file, "one", "two", now);
    replaceWithBackup(file, "two", "three", new Date(now.getTime() + 1));
    undo(file);
    expect(readFileSync(file, "utf8")).toBe("two");
    undo(file);
    expect(readFileSync(file, "utf8")).toBe("one");
    expect(() => undo(file)).toThrow(/no backup/);
  });

  test("leave a file alone that changed between reading and writing, or is no UTF-8", () => {
    writeFileSync(file, "other");
    expect(() => replaceWithBackup(file, "read", "ours", now)).toThrow(/changed meanwhile/);
    expect(readdirSync(folder)).toEqual(["client.json"]);
    writeFileSync(file, Buffer.from([0xff]));
    expect(() => replaceWithBackup(file, Buffer.from([0xff]).toString(), "ours", now)).toThrow(/no UTF-8/);
  });

  test("write through a link and leave it a link", () => {
    const real = join(folder, "real.json");
    writeFileSync(real, "old");
    symlinkSync(real, file);
    replaceWithBackup(file, "old", "ours", now);
    expect(readFileSync(real, "utf8")).toBe("ours");
    expect(findBackup(file)).toMatch(/client\.json\.isthmus-backup-20260102030405678-[0-9a-f]{12}$/);
    undo(file);
    expect(readFileSync(real, "utf8")).toBe("old");
  });

  test.skipIf(process.getuid?.() === 0)("say when the folder cannot be written", () => {
    writeFileSync(file, "old");
    chmodSync(folder, 0o500);
    expect(() => replaceWithBackup(file, "old", "ours", now)).toThrow(/cannot be written/);
    chmodSync(folder, 0o700);
  });
});
