import { expect, test } from "vitest";
import { loadConfig } from "../../server/config/load-config.ts";
import { serverOf } from "./offers.ts";

function configOf(naming: string, ...servers: { id: string; prefix?: string }[]) {
  const table = { gateway: { naming }, servers: servers.map((server) => ({ ...server, command: "x" })) };
  return loadConfig({ table, originOf: () => undefined, files: [] }, { env: {} });
}

test("serverOf finds the server by its prefix, the longest first, else the one without", () => {
  const config = configOf("dotted", { id: "files" }, { id: "my.crm", prefix: "crm" }, { id: "bare", prefix: "" });
  expect(["files.read", "crm.find", "read", "filesx.y"].map((name) => serverOf(name, config))).toEqual([
    "files",
    "my.crm",
    "bare",
    "bare",
  ]);
  const under = configOf("underscore", { id: "a" }, { id: "a__b" });
  expect(["a__x", "a__b__x", "c"].map((name) => serverOf(name, under))).toEqual(["a", "a__b", undefined]);
});

test("serverOf guesses without a config", () => {
  expect([serverOf("files.read.x", undefined), serverOf("read", undefined)]).toEqual(["files", undefined]);
});
