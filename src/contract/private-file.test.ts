import {
  chmodSync,
  chownSync,
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
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makePrivateFile, replaceFile } from "./private-file.ts";

describe("makePrivateFile", () => {
  let place: string;
  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), "isthmus-file-"));
  });
  afterEach(() => rmSync(place, { recursive: true, force: true }));

  test("makes a file that only its owner can read, and leaves one that is there as it is", () => {
    const file = join(place, "key");
    makePrivateFile(file, "first");
    expect(() => makePrivateFile(file, "second")).toThrow(/EEXIST/);
    expect(readFileSync(file, "utf8")).toBe("first");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(place)).toEqual(["key"]);
  });

  test("is never seen half made by others who look meanwhile", async () => {
    const rounds = 40;
    const found = observe(place, rounds);
    for (let round = 0; round < rounds; round++) {
      const file = join(place, `${round}`);
      makePrivateFile(file, "whole");
      while (statSync(file, { throwIfNoEntry: false })) await new Promise(setImmediate);
    }
    expect(await found).toEqual(["whole"]);
  });
});

describe.skipIf(process.platform === "win32")("replaceFile", () => {
  let place: string;
  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), "isthmus-file-"));
  });
  afterEach(() => rmSync(place, { recursive: true, force: true }));

  test("puts a private file in the place of one that others could read", () => {
    const file = join(place, "key");
    writeFileSync(file, "old");
    chmodSync(file, 0o666);
    if (process.getuid?.() === 0) chownSync(file, 4321, 4321);
    replaceFile(file, "new");
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(statSync(file)).toMatchObject({ uid: process.getuid?.(), mode: 0o100600 });
    expect(readdirSync(place)).toEqual(["key"]);
  });

  test.each(["there", "gone"])("replaces a link, and leaves what it led to alone (%s)", (target) => {
    writeFileSync(join(place, "there"), "theirs");
    symlinkSync(join(place, target), join(place, "link"));
    replaceFile(join(place, "link"), "ours", { mode: 0o644 });
    expect(lstatSync(join(place, "link"))).toMatchObject({ mode: 0o100644 });
    expect(readFileSync(join(place, "there"), "utf8")).toBe("theirs");
    expect(readdirSync(place)).toEqual(["link", "there"]);
  });

  test("leaves what is there, and nothing else, where it cannot be replaced", () => {
    mkdirSync(join(place, "folder"));
    expect(() => replaceFile(join(place, "folder"), "x")).toThrow();
    expect(readdirSync(place)).toEqual(["folder"]);
  });
});

/** The different texts that another thread reads of each file in the moment in which it is there; it removes them. */
async function observe(place: string, rounds: number): Promise<readonly string[]> {
  const look = `
    const { readFileSync, rmSync } = require("node:fs");
    const { parentPort, workerData: { place, rounds } } = require("node:worker_threads");
    const texts = new Set();
    for (let round = 0; round < rounds; ) {
      try {
        texts.add(readFileSync(place + "/" + round, "utf8"));
        rmSync(place + "/" + round);
        round++;
      } catch {}
    }
    parentPort.postMessage([...texts]);`;
  const worker = new Worker(look, { eval: true, workerData: { place, rounds } });
  return new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
}
