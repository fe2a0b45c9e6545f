import { expect, test } from "vitest";
import { hasPath, readText } from "./repo-files.ts";

const LOCKFILES = ["package-lock.json", "tests/parts/package-lock.json", "bench/package-lock.json"].filter(hasPath);

test.each(LOCKFILES)("%s names no registry, so that it installs from whichever one is configured", (path) => {
  const resolved = readText(path)
    .split("\n")
    .filter((line) => line.includes('"resolved": "http'));
  expect(resolved).toEqual([]);
});
