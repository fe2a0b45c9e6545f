import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findConfig } from "./find-config.ts";

describe("findConfig", () => {
  let folder = "";
  let home = "";
  const put = (...files: string[]) => {
    for (const file of files) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "");
    }
  };

  beforeEach(() => {
    const root = mkdtempSync(join(tmpdir(), "isthmus-"));
    folder = join(root, "work");
    home = join(root, "home");
    mkdirSync(folder);
  });
  afterEach(() => {
    rmSync(dirname(folder), { recursive: true });
  });

  test("takes the named file before all others, relative to the folder", () => {
    put(join(folder, "isthmus.toml"));
    expect(findConfig({ file: "other.toml", folder, home, env: { MGP_CONFIG_PATH: "x" } }).files).toEqual([
      join(folder, "other.toml"),
    ]);
  });

  test("takes isthmus.toml before MGP's places", () => {
    put(join(folder, "isthmus.toml"), join(folder, "mgp.toml"));
    expect(findConfig({ folder, home, env: { MGP_CONFIG_PATH: "x" } }).files).toEqual([join(folder, "isthmus.toml")]);
  });

  test("takes the file that MGP_CONFIG_PATH names alone, even if it is missing", () => {
    put(join(folder, "mgp.toml"));
    expect(findConfig({ folder, home, env: { MGP_CONFIG_PATH: "x.toml" } }).files).toEqual([join(folder, "x.toml")]);
  });

  test("takes mgp.toml and the user's servers.toml together, the nearer first", () => {
    const files = [join(folder, "mgp.toml"), join(home, ".config/mgp/servers.toml")];
    put(...files);
    expect(findConfig({ folder, home, env: {} }).files).toEqual(files);
  });

  test("finds the user's servers.toml alone", () => {
    put(join(home, ".config/mgp/servers.toml"));
    expect(findConfig({ folder, home, env: {} }).files).toEqual([join(home, ".config/mgp/servers.toml")]);
  });

  test("says where it looked when there is none", () => {
    expect(findConfig({ folder, home, env: {} })).toEqual({
      files: [],
      looked: [join(folder, "isthmus.toml"), join(folder, "mgp.toml"), join(home, ".config/mgp/servers.toml")],
    });
  });
});
