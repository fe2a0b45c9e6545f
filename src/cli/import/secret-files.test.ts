import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isFreeFor, writeSecrets } from "./secret-files.ts";

const SECRET = { path: ".isthmus/secrets/files/KEY", value: "s3cret" };

describe.skipIf(process.platform === "win32")("writeSecrets", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "isthmus-secrets-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const at = (...path: string[]) => join(folder, ".isthmus/secrets", ...path);

  test("leaves everything beside a secret to its owner alone", () => {
    writeSecrets(folder, [SECRET]);
    const places = ["", ".gitignore", "files", "files/KEY"].map((path) => statSync(at(path)).mode & 0o777);
    expect(places).toEqual([0o700, 0o600, 0o700, 0o600]);
    expect(readFileSync(at("files/KEY"), "utf8")).toBe("s3cret\n");
  });

  test("keeps what is there with the same value, and takes it back from nobody", () => {
    writeSecrets(folder, [SECRET]);
    expect(isFreeFor(folder, SECRET)).toBe(true);
    writeSecrets(folder, [SECRET])();
    expect(readFileSync(at("files/KEY"), "utf8")).toBe("s3cret\n");
  });

  test("writes over no other value, and leaves nothing of what it has begun", () => {
    writeSecrets(folder, [SECRET]);
    const other = { ...SECRET, value: "other" };
    expect(isFreeFor(folder, other)).toBe(false);
    expect(() => writeSecrets(folder, [{ ...other, path: ".isthmus/secrets/files/FIRST" }, other])).toThrow(/EEXIST/);
    expect(readFileSync(at("files/KEY"), "utf8")).toBe("s3cret\n");
    expect(readdirSync(at("files"))).toEqual(["KEY"]);
  });

  test("has git leave them out, whatever a file said that was there before", () => {
    mkdirSync(at(), { recursive: true });
    writeFileSync(at(".gitignore"), "!*\n");
    writeSecrets(folder, [SECRET]);
    expect(readFileSync(at(".gitignore"), "utf8")).toBe("*\n");
  });

  const PLACES = [".isthmus", ".isthmus/secrets", ".isthmus/secrets/files"];

  test.each(PLACES)("makes nothing behind a link at %s", (place) => {
    const elsewhere = join(folder, "elsewhere");
    mkdirSync(elsewhere);
    mkdirSync(dirname(join(folder, place)), { recursive: true });
    for (const target of [elsewhere, join(folder, "gone")]) {
      symlinkSync(target, join(folder, place));
      expect(() => writeSecrets(folder, [SECRET])).toThrow(/is a link/);
      rmSync(join(folder, place));
    }
    expect(readdirSync(folder, { recursive: true }).filter((name) => String(name).includes("KEY"))).toEqual([]);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test.each(PLACES)("makes nothing where everybody can write %s", (place) => {
    mkdirSync(join(folder, place), { recursive: true });
    chmodSync(join(folder, place), 0o777);
    expect(() => writeSecrets(folder, [SECRET])).toThrow(/can be written by everybody.*chmod/);
    expect(readdirSync(folder, { recursive: true }).filter((name) => String(name).includes("KEY"))).toEqual([]);
  });

  test.skipIf(process.getuid?.() !== 0).each(PLACES)("makes nothing where %s belongs to another user", (place) => {
    mkdirSync(join(folder, place), { recursive: true });
    chownSync(join(folder, place), 4321, 4321);
    expect(() => writeSecrets(folder, [SECRET])).toThrow(/belongs to another user/);
  });

  test("takes no link, and no file that others can read, for one of its own", () => {
    writeSecrets(folder, [SECRET]);
    symlinkSync(at("files/KEY"), at("files/LINK"));
    symlinkSync(join(folder, "gone"), at("files/GONE"));
    expect(isFreeFor(folder, { ...SECRET, path: ".isthmus/secrets/files/LINK" })).toBe(false);
    expect(isFreeFor(folder, { ...SECRET, path: ".isthmus/secrets/files/GONE" })).toBe(false);
    chmodSync(at("files/KEY"), 0o644);
    expect(isFreeFor(folder, SECRET)).toBe(false);
  });
});
