import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { pathOf } from "../needs/need.ts";
import { git } from "../needs/programs.ts";
import { HELLO, scriptServer, Workspace } from "./cli/workspace.ts";

test("git sees nothing of what a gateway keeps beside its config, whoever made the folder first", async () => {
  await using place = new Workspace();
  const env = { PATH: process.env.PATH ?? "", HOME: place.folder };
  const run = (...args: string[]) =>
    execFileSync(pathOf(git), args, { cwd: place.folder, env, encoding: "utf8" }).trimEnd().split("\n");
  run("init", "-q");
  const listen = '[gateway]\nlisten = "127.0.0.1:0"\n[auth]\ntokens = true\n[audit]\n';
  place.write("isthmus.toml", listen + scriptServer("hello", HELLO));
  expect(await place.run("operator", "init", "--key", ".isthmus/operator.key")).toMatchObject({ code: 0 });
  await place.serve("up", ["hello"]);
  const kept = readdirSync(place.path(".isthmus"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(place.folder, join(parentPath, name)));
  expect(kept).toEqual(expect.arrayContaining([".isthmus/operator.key", ".isthmus/isthmus.db"]));
  expect(run("check-ignore", ...kept)).toEqual(kept);
  // The folder is the home as well.
  expect(run("status", "--porcelain")).toEqual(["?? .config/", "?? isthmus.toml"]);
});
