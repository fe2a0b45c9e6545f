import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findBackups, replaceWithBackup, undo } from "./backup.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-backup-"));
  file = join(folder, "client.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

const now = new Date("2026-01-02T03:04:05.678Z");
const KEY = Buffer.alloc(32, 1);

const place = () => ({ file, project: folder });
const connect = (read: string, after: string, at = now) => replaceWithBackup(place(), KEY, { read, after, now: at });

describe("replaceWithBackup and undo", () => {
  test("bring back every byte and the permissions, and leave nothing behind", () => {
    writeFileSync(file, '{ "a": 1 }\r\n\t', { mode: 0o600 });
    const backup = connect('{ "a": 1 }\r\n\t', "{}");
    expect(readFileSync(file, "utf8")).toBe("{}");
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(undo(place(), KEY)).toEqual({ file, changedKept: undefined });
    expect(readFileSync(file, "utf8")).toBe('{ "a": 1 }\r\n\t');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["client.json"]);
  });

  test("keep a file that was changed since beside the old one", () => {
    writeFileSync(file, "old");
    connect("old", "ours");
    writeFileSync(file, "theirs");
    const { changedKept = "" } = undo(place(), KEY);
    expect(readFileSync(file, "utf8")).toBe("old");
    expect(readFileSync(changedKept, "utf8")).toBe("theirs");
  });

  test("bring back a file that was deleted since", () => {
    writeFileSync(file, "old");
    connect("old", "ours");
    rmSync(file);
    expect(undo(place(), KEY).changedKept).toBeUndefined();
    expect(readFileSync(file, "utf8")).toBe("old");
  });

  test("undo the last one first", () => {
    writeFileSync(file, "one");
    connect("one", "two");
    connect("two", "three", new Date(now.getTime() + 1));
    undo(place(), KEY);
    expect(readFileSync(file, "utf8")).toBe("two");
    undo(place(), KEY);
    expect(readFileSync(file, "utf8")).toBe("one");
    expect(() => undo(place(), KEY)).toThrow(/no backup/);
  });

  test("leave a file alone that changed between reading and writing, or is no UTF-8", () => {
    writeFileSync(file, "other");
    expect(() => connect("read", "ours")).toThrow(/changed meanwhile/);
    expect(readdirSync(folder)).toEqual(["client.json"]);
    writeFileSync(file, Buffer.from([0xff]));
    expect(() => connect(Buffer.from([0xff]).toString(), "ours")).toThrow(/no UTF-8/);
  });

  test("write through a link and leave it a link", () => {
    const real = join(folder, "real.json");
    writeFileSync(real, "old");
    symlinkSync(real, file);
    connect("old", "ours");
    expect(readFileSync(real, "utf8")).toBe("ours");
    expect(findBackups(file, KEY).own).toMatch(/client\.json\.isthmus-backup-20260102030405678-[0-9a-f]{16}$/);
    undo(place(), KEY);
    expect(readFileSync(real, "utf8")).toBe("old");
  });

  test.skipIf(process.getuid?.() === 0)("say when the folder cannot be written", () => {
    writeFileSync(file, "old");
    chmodSync(folder, 0o500);
    expect(() => connect("old", "ours")).toThrow(/cannot be written/);
    chmodSync(folder, 0o700);
  });
});

describe("undo", () => {
  /** As somebody makes one up who knows everything but the key. */
  const planted = (name = `20990101000000000-${"0".repeat(16)}`) => `${file}.isthmus-backup-${name}`;

  test.each([
    ["named as ours are", () => planted()],
    ["named as those before seals", () => planted("20990101000000000-000000000000")],
    ["named anyhow", () => planted("zzz")],
  ])("puts back nothing that somebody else has put there, %s", (_, name) => {
    writeFileSync(file, "mine");
    writeFileSync(name(), "theirs");
    expect(findBackups(file, KEY)).toEqual({ own: undefined, foreign: [name()] });
    expect(() => undo(place(), KEY)).toThrow(/no backup/);
    expect(() => undo(place(), undefined)).toThrow(/no backup/);
    expect(readFileSync(file, "utf8")).toBe("mine");
  });

  test("takes its own, also beside newer ones of others", () => {
    writeFileSync(file, "old");
    connect("old", "ours");
    writeFileSync(planted(), "theirs");
    undo(place(), KEY);
    expect(readFileSync(file, "utf8")).toBe("old");
    expect(() => undo(place(), KEY)).toThrow(/no backup/);
  });

  test.each<[string, (backup: string) => string]>([
    ["with other words in it", (backup) => backup],
    ["for another file", (backup) => backup.replace("client.json", "other.json")],
    ["with another time", (backup) => backup.replace("-2026", "-2027")],
  ])("puts back no backup of ours that was changed: %s", (what, renamed) => {
    writeFileSync(file, "old");
    const backup = connect("old", "ours");
    renameSync(backup, renamed(backup));
    if (what === "with other words in it") writeFileSync(backup, "theirs");
    const other = join(folder, "other.json");
    for (const one of [file, other]) expect(findBackups(one, KEY).own).toBeUndefined();
  });

  test("reads nothing but files: no link, no folder", () => {
    writeFileSync(file, "old");
    const backup = connect("old", "ours");
    renameSync(backup, join(folder, "moved"));
    symlinkSync(join(folder, "moved"), backup);
    expect(findBackups(file, KEY)).toEqual({ own: undefined, foreign: [backup] });
    rmSync(backup);
    mkdirSync(backup);
    expect(findBackups(file, KEY).own).toBeUndefined();
  });

  test("writes through no link of a project that leads out of it, and keeps no file behind one", () => {
    const outside = mkdtempSync(join(tmpdir(), "isthmus-outside-"));
    try {
      const theirs = join(outside, "theirs");
      writeFileSync(theirs, "theirs");
      writeFileSync(file, "old");
      connect("old", "ours");
      // What was changed since is kept beside it: in place of the link.
      writeFileSync(file, "changed");
      symlinkSync(theirs, `${file}.before-undo`);
      expect(undo(place(), KEY).changedKept).toBe(`${file}.before-undo`);
      expect(lstatSync(`${file}.before-undo`).isFile()).toBe(true);
      connect("old", "ours");
      rmSync(file);
      symlinkSync(theirs, file);
      expect(() => undo(place(), KEY)).toThrow(/outside of/);
      expect(() => connect("theirs", "ours")).toThrow(/outside of/);
      expect(readFileSync(theirs, "utf8")).toBe("theirs");
      expect(readdirSync(outside)).toEqual(["theirs"]);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });
});
