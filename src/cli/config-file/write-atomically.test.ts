import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
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
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeAtomically, writeOwn } from "./write-atomically.ts";

let folder: string;
let project: string;
let outside: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-write-"));
  project = join(folder, "project");
  outside = join(folder, "outside");
  mkdirSync(project);
  writeFileSync(outside, "theirs", { mode: 0o644 });
});
afterEach(() => rmSync(folder, { recursive: true }));

const isRoot = process.getuid?.() === 0;

describe("writeAtomically", () => {
  test("keeps mode and owner, and leaves nothing beside the file", () => {
    const file = join(project, "isthmus.toml");
    writeFileSync(file, "old");
    chmodSync(file, 0o640);
    if (isRoot) chownSync(file, 4321, 4321);
    writeAtomically({ file, project }, "new");
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(statSync(file).mode & 0o777).toBe(0o640);
    if (isRoot) expect(statSync(file).uid).toBe(4321);
    expect(readdirSync(project)).toEqual(["isthmus.toml"]);
  });

  test("follows a link of a project that stays in it", () => {
    mkdirSync(join(project, ".cursor"));
    writeFileSync(join(project, ".mcp.json"), "old");
    const file = join(project, ".cursor/mcp.json");
    symlinkSync("../.mcp.json", file);
    writeAtomically({ file, project }, "new");
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(project, ".mcp.json"), "utf8")).toBe("new");
  });

  test.each<[string, () => string]>([
    [
      "a file",
      () => {
        symlinkSync("../outside", join(project, "isthmus.toml"));
        return "isthmus.toml";
      },
    ],
    [
      "a link to a link",
      () => {
        symlinkSync(outside, join(project, "second"));
        symlinkSync("second", join(project, "isthmus.toml"));
        return "isthmus.toml";
      },
    ],
    [
      "a folder",
      () => {
        symlinkSync("..", join(project, "in"));
        return "in/outside";
      },
    ],
  ])("follows none that leads out of it: %s", (_, make) => {
    const file = join(project, make());
    expect(() => writeAtomically({ file, project }, "ours")).toThrow(/is behind a link to .*outside, which is outside/);
    expect(readFileSync(outside, "utf8")).toBe("theirs");
  });

  test("puts a file in the place of a link to nothing", () => {
    const file = join(project, "isthmus.toml");
    symlinkSync(join(folder, "gone"), file);
    writeAtomically({ file, project }, "ours");
    expect(lstatSync(file).isFile()).toBe(true);
    expect(readdirSync(folder).toSorted()).toEqual(["outside", "project"]);
  });

  test("follows a user's own link to a file of theirs", () => {
    const file = join(folder, ".claude.json");
    symlinkSync(outside, file);
    writeAtomically({ file, project: undefined }, "mine");
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(outside, "utf8")).toBe("mine");
  });

  test.skipIf(!isRoot).each([
    ["link", (file: string) => lchownSync(file, 4321, 4321)],
    ["file", () => chownSync(outside, 4321, 4321)],
  ])("follows no link where the %s is another user's", (_, give) => {
    const file = join(folder, ".claude.json");
    symlinkSync(outside, file);
    give(file);
    expect(() => writeAtomically({ file, project: undefined }, "mine")).toThrow(/belongs to another user/);
    expect(readFileSync(outside, "utf8")).toBe("theirs");
  });
});

test("writeOwn replaces a link and says where it cannot write", () => {
  const file = join(project, "kept");
  symlinkSync(outside, file);
  writeOwn(file, "ours");
  expect(lstatSync(file).isFile()).toBe(true);
  expect(readFileSync(outside, "utf8")).toBe("theirs");
  expect(() => writeOwn(join(folder, "no", "file"), "x")).toThrow(/cannot be written \(ENOENT\)/);
});
