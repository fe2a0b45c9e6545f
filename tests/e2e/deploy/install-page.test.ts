import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { blockOf } from "../kit/markdown.ts";
import { ROOT } from "../kit/program.ts";

const PAGE = "docs/guide/install.md";
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

test("docs/guide/install.md shows the config of the image, the package's own name and files that are there", () => {
  const config = read("deploy/isthmus.toml").replaceAll(/^#.*\n/gm, "");
  expect(blockOf(PAGE, "toml").trim()).toBe(config.trim());
  const packages = new Set(read(PAGE).match(/isthmus-[\d.]+\.tgz/g));
  expect([...packages]).toEqual([`isthmus-${manifest.version}.tgz`]);
  const named = new Set(read(PAGE).match(/\bdeploy\/[\w.]+/g));
  expect([...named].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
